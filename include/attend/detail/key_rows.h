// The memory in which a cache keeps keys that begin with their values, once.
#pragma once

#include "cache_rows.h"

namespace attend {

// A ValueFormat of caches: values are the first value_dim numbers of their keys, and in memory once.
struct in_keys {};

namespace detail {

// Keys that begin with their values: a row for each token and head, and of int8 one scale, as FormatCacheRows has values.
template <class Shape, class Format, int capacity>
class KeyRows {
  using Dims = Checked<Shape>;
  static_assert(FormatOf<Format>::value && !in_groups<Format>,
                "attend: keys of a cache of attend::in_keys are float, attend::float16, attend::bfloat16 or attend::int8");
  static_assert(Checked<Shape>::fits_in_keys,
                "attend: values that are a part of their keys have a value_dim of at most head_dim");
  static constexpr size_t rows = core::format_cache_rows(Dims::kv_heads, capacity);
  static constexpr ptrdiff_t head_rows = ptrdiff_t(rows) / Dims::kv_heads;
  static constexpr core::Format format = FormatOf<Format>::format;

 public:
  using RingType = NoRing;
  static constexpr bool needs_no_options = false, cached = true;

  // Stores tokens as values that are as wide as keys, beside keys of 0 numbers, whose scales the scales of values overwrite.
  bool store(int position, int count, const ArrayRows<Shape>& tokens) {
    return core::store_cache<format>({rows_.numbers, rows_.numbers, rows_.scales(), rows_.scales(), format, format,
                                      Dims::kv_heads, 0, Dims::head_dim, capacity, core::Paging(), false, saturates<Format>},
                                     position, count, tokens.keys(), tokens.keys());
  }

  void set(OptionCall& call) const {
    call.problem.key = {rows_.numbers, Dims::head_dim, head_rows * Dims::head_dim};
    call.problem.value = call.problem.key;
    call.options.key_format = call.options.value_format = format;
    call.options.key_scales = call.options.value_scales = rows_.scales();
    call.options.key_scale_stride = call.options.value_scale_stride = head_rows;
  }

  // core::run_cache reads panels.
  template <bool one_row>
  static void run_cache(const core::Problem& problem, const core::Options& options) {
    core::Floats::run(problem, options);
  }

 private:
  FormatRows<Format, rows, size_t(Dims::head_dim)> rows_{};
};

// Whether keys lie in rows, which hold the values.
template <class Rows>
constexpr bool values_in_keys = false;
template <class Shape, class Format, int capacity>
constexpr bool values_in_keys<KeyRows<Shape, Format, capacity>> = true;
template <class Shape, class Pool, int page_tokens, int pages>
constexpr bool values_in_keys<PagedRows<Shape, Pool, page_tokens, pages>> = values_in_keys<Pool>;

template <class Shape, class Format, int capacity, class Ring>
struct RowsOf<Shape, Format, in_keys, capacity, Ring, float> {
  static_assert(Ring::window == 0,
                "attend: a RingCache has values of their own: give them a format, or take a KvCache or PagedCache of "
                "attend::in_keys, with a window in the options");
  using Type = KeyRows<Shape, Format, capacity>;
};

}  // namespace detail
}  // namespace attend
