// Where the keys and values of the embedded pipeline lie with options: anywhere in groups of 16, in any number format.
//
// A piece is a run of keys of a chain whose groups lie one after another. Rows of one tile read numbers where they lie, and
// widen them in registers. For more rows, a group of keys or some columns of a chain's values are widened once, in work memory;
// and values are brought together there where a chain is of several pieces.
#pragma once

#include "../numerics/formats.h"
#include "paging.h"
#include "visibility.h"

namespace attend {
namespace {

template <class Number>
const Number* numbers_of(const float* data) {
  return static_cast<const Number*>(static_cast<const void*>(data));
}

struct EmbeddedPiece {
  int place;  // of the first key: how many keys of memory lie before it
  int count;  // of keys
};

template <class Isa>
class EmbeddedKeys {
 public:
  EmbeddedKeys(const core::Problem& problem, const core::Options& options)
      : problem_(problem),
        options_(options),
        keys(problem.key.data),
        values(problem.value.data),
        key_scales(options.key_scales),
        value_scales(options.value_scales) {}

  // To the next key/value head.
  void next_head() {
    keys = moved(keys, problem_.key.head_stride, options_.key_format);
    values = moved(values, problem_.value.head_stride, options_.value_format);
    if (key_scales != nullptr) key_scales += options_.key_scale_stride;
    if (value_scales != nullptr) value_scales += options_.value_scale_stride;
  }

  // Of `count` keys from a group's first on: the first piece.
  EmbeddedPiece piece(int key, int count) const {
    if (options_.paging.pages == nullptr && options_.paging.ring_groups == 0) return {key - options_.origin, count};
    return paged_piece(key, count);
  }

  // Calls with each piece of a chain's keys from ... to - 1, counted from the chain's first: its keys begin ... end - 1, and
  // the place of key 0 if it were in the same piece.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_piece(int key, int from, int to, Call call) const {
    for (int k = from & -panel_keys; k < to;) {
      const EmbeddedPiece next = piece(key + k, to - k);
      call(next.place - k, at_least(k, from), k + next.count);
      k += next.count;
    }
  }

  // A group of keys as floats: of a cache its panel, of arrays keys begin ... end - 1.
  void widen_group(int place, int count, float* to) const {
    const int dims = problem_.head_dim;
    if (problem_.key_panels) {
      widen_row<Isa>(options_.key_format, moved(keys, place * ptrdiff_t(dims), options_.key_format), panel_keys * dims, to);
      return;
    }
    for (int i = 0; i < count; ++i) {
      const ptrdiff_t at = (place + i) * problem_.key.token_stride;
      widen_row<Isa>(options_.key_format, moved(keys, at, options_.key_format), dims, to + ptrdiff_t(i) * dims);
    }
  }

  // Columns of values as floats, side by side.
  ATTEND_NOINLINE void widen_values(int place, int count, int column, int columns, float* to) const {
    const ptrdiff_t at = place * problem_.value.token_stride + column;
    switch (options_.value_format) {
      case core::Format::float32:
        return widen_rows(values + at, count, columns, to);
      case core::Format::float16:
        return widen_rows(numbers_of<Half>(values) + at, count, columns, to);
      case core::Format::bfloat16:
        return widen_rows(numbers_of<Bfloat>(values) + at, count, columns, to);
      case core::Format::int8:
        return widen_rows(numbers_of<int8_t>(values) + at, count, columns, to);
    }
  }

 private:
  template <class Number>
  void widen_rows(const Number* from, int count, int columns, float* to) const {
    for (; count > 0; --count) {
      Isa::widen(from, columns, to);
      from += problem_.value.token_stride;
      to += columns;
    }
  }

  ATTEND_NOINLINE EmbeddedPiece paged_piece(int key, int count) const {
    const core::Paging& paging = options_.paging;
    const int group = key / panel_keys, taken = keys_taken(paging, problem_.keys);
    return {slot_group(paging, taken, group) * panel_keys - options_.origin,
            at_most(run_length(paging, taken, group, whole_panels(count) / panel_keys) * panel_keys, count)};
  }

  const core::Problem& problem_;
  const core::Options& options_;

 public:
  const float *keys, *values;  // of the key/value head
  const float *key_scales, *value_scales;
};

}  // namespace
}  // namespace attend
