// Keys and values of a block as the tiles read them, wherever and in whatever format they lie: as panels of floats and rows of
// floats. What is like that and in one piece is read where it lies, the rest is brought to work memory first.
#pragma once

#include "formats.h"
#include "pack.h"
#include "sight.h"
#include "slots.h"
#include "value_tile.h"

namespace attend {
namespace {

// What a block of rows sees by position: anything that any of its rows does.
struct BlockSight {
  Sight earliest;  // of the first row: begins where it does
  Sight latest;    // of the last row
  bool all;        // hidden keys count too

  bool has_any(int key, int to) const {
    const int low = at_least(key, earliest.begin), high = at_most(to, latest.end);
    return all || (low < high && (high > earliest.first || low < latest.pinned));
  }
};

template <class Isa>
class OptionKeys {
 public:
  // Work memory: [key_block][head_dim] for panels, [key_block][value_dim] for values, [16][head_dim] for rows of a group.
  OptionKeys(const core::Problem& problem, const core::Options& options, float* panels, float* values, float* rows)
      : problem_(problem), options_(options), panels_(panels), values_(values), rows_(rows) {}

  // The keys of a key/value head from now on.
  void take_head(int head) {
    keys_of_head_ = moved(problem_.key.data, head * problem_.key.head_stride, options_.key_format);
    values_of_head_ = moved(problem_.value.data, head * problem_.value.head_stride, options_.value_format);
    key_scales_of_head_ = options_.key_scales == nullptr ? nullptr : options_.key_scales + head * options_.key_scale_stride;
    value_scales_of_head_ =
        options_.value_scales == nullptr ? nullptr : options_.value_scales + head * options_.value_scale_stride;
  }

  // Whether the groups of some keys lie one after another.
  bool in_one_piece(int key, int from, int to) const {
    const int group = (key + from) / panel_keys, groups = (whole_panels(to) - from) / panel_keys;
    return run_length(options_.slots, keys_taken(options_.slots, problem_.keys), group, groups) >= groups;
  }

  // Where the panels of a cache lie; the first is that of position key.
  const float* panels_in_place(int key, int from) const {
    const ptrdiff_t slot = slot_of(key + from) - from;
    return moved(keys_of_head_, slot * problem_.head_dim, options_.key_format);
  }

  // Panels of keys from `from` on, at from * head_dim of what is returned.
  const float* panels(int key, int from, int to, const BlockSight& sight) {
    if (problem_.key_panels && options_.key_format == core::Format::float32 && in_one_piece(key, from, to)) {
      return panels_in_place(key, from);
    }
    for (int k = from; k < to; k += panel_keys) {
      if (!sight.has_any(key + k, key + k + panel_keys)) continue;  // scores of what lies there are hidden, whatever they are
      pack_group(key + k, at_most(to - k, panel_keys), panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return panels_;
  }

  // Where values lie; the first is that of position key.
  const float* values_in_place(int key, int from) const {
    const ptrdiff_t slot = slot_of(key + from) - from;
    return moved(values_of_head_, (slot - options_.origin) * problem_.value.token_stride, options_.value_format);
  }

  // Values of the same keys. `gathers`: whether so many rows read them that it pays to have them side by side.
  Values values(int key, int from, int to, const BlockSight& sight, bool gathers) {
    const ptrdiff_t stride = problem_.value.token_stride;
    const int dims = problem_.value_dim;
    if (options_.value_format == core::Format::float32 && in_one_piece(key, from, to) && (!gathers || stride == dims)) {
      return {values_in_place(key, from), stride};
    }
    for (int k = from; k < to; k += panel_keys) {
      const int end = at_most(k + panel_keys, to);
      const bool seen = sight.has_any(key + k, key + k + panel_keys);
      const ptrdiff_t slot = seen ? slot_of(key + k) - options_.origin : 0;
      for (int i = k; i < end; ++i) {
        float* const row = values_ + ptrdiff_t(i) * dims;
        if (!seen || key + i < options_.origin) {
          fill_row<Isa>(0.0f, dims, row);
        } else {
          widen_row<Isa>(options_.value_format, moved(values_of_head_, (slot + i - k) * stride, options_.value_format), dims,
                         row);
        }
      }
    }
    return {values_, dims};
  }

  // Scales of keys or values of the block, at [from]; null if there are none.
  const float* key_scales(int key, int from, int to, const BlockSight& sight, float* work) const {
    return scales(key_scales_of_head_, key, from, to, sight, work);
  }
  const float* value_scales(int key, int from, int to, const BlockSight& sight, float* work) const {
    return scales(value_scales_of_head_, key, from, to, sight, work);
  }

 private:
  int slot_of(int key) const {
    const int keys = keys_taken(options_.slots, problem_.keys);
    return slot_group(options_.slots, keys, key / panel_keys) * panel_keys + key % panel_keys;
  }

  // One panel of floats.
  void pack_group(int key, int count, float* panel) {
    const int dims = problem_.head_dim, slot = slot_of(key);
    if (problem_.key_panels) {
      const float* from = moved(keys_of_head_, ptrdiff_t(slot) * dims, options_.key_format);
      return widen_row<Isa>(options_.key_format, from, panel_keys * dims, panel);
    }
    const ptrdiff_t stride = problem_.key.token_stride;
    const int first = at_least(options_.origin - key, 0);  // keys before do not exist
    const float* from = moved(keys_of_head_, (slot + first - options_.origin) * stride, options_.key_format);
    if (first == 0 && options_.key_format == core::Format::float32) {
      return pack_panel<Isa, panel_keys>(from, stride, count, dims, panel);
    }
    for (int i = 0; i < count; ++i) {
      const ptrdiff_t steps = at_least(i - first, 0);
      widen_row<Isa>(options_.key_format, moved(from, steps * stride, options_.key_format), dims, rows_ + ptrdiff_t(i) * dims);
    }
    pack_panel<Isa, panel_keys>(rows_, dims, count, dims, panel);
  }

  const float* scales(const float* of_head, int key, int from, int to, const BlockSight& sight, float* work) const {
    if (of_head == nullptr) return nullptr;
    for (int k = from; k < to; k += panel_keys) {
      if (!sight.has_any(key + k, key + k + panel_keys)) continue;
      const int first = at_least(options_.origin - key - k, 0), end = at_most(to - k, panel_keys);
      copy_row<Isa>(of_head + (slot_of(key + k) + first - options_.origin), end - first, work + k + first);
    }
    return work;
  }

  const core::Problem& problem_;
  const core::Options& options_;
  float* const panels_;
  float* const values_;
  float* const rows_;
  const float *keys_of_head_ = nullptr, *values_of_head_ = nullptr;
  const float *key_scales_of_head_ = nullptr, *value_scales_of_head_ = nullptr;
};

}  // namespace
}  // namespace attend
