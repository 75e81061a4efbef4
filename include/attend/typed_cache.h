// Caches in other number formats, and rings: FormatCache and RingCache. As for KvCache, sizeof is the whole cost in memory.
//
// prefill and decode take them with an OptionWorkspace, whether options are Options or ScoreOptions.
#pragma once

#include "score_calls.h"

namespace attend {

// Formats of the numbers in a cache, as parameters of their types; float is one too. What is appended is rounded to the nearest
// number, ties to even. int8 has a float for each key and value of a head, that all of its numbers are multiplied by.
struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};
struct int8 {
  int8_t number;
};

namespace detail {

template <class Type>
struct FormatOf {
  static constexpr bool value = false;
  static constexpr core::Format format = core::Format::float32;
  using Number = float;
};
template <core::Format is, class Numbers>
struct FormatIs {
  static constexpr bool value = true;
  static constexpr core::Format format = is;
  using Number = Numbers;
};
template <>
struct FormatOf<float> : FormatIs<core::Format::float32, float> {};
template <>
struct FormatOf<float16> : FormatIs<core::Format::float16, uint16_t> {};
template <>
struct FormatOf<bfloat16> : FormatIs<core::Format::bfloat16, uint16_t> {};
template <>
struct FormatOf<int8> : FormatIs<core::Format::int8, int8_t> {};

// Keys or values: their numbers and, if the format has any, their scales.
template <class Format, size_t rows, size_t width>
struct FormatRows {
  alignas(config::alignment) typename FormatOf<Format>::Number numbers[rows * width];
  float* scales() { return nullptr; }
  const float* scales() const { return nullptr; }
  constexpr FormatRows() : numbers{} {}
};
template <size_t rows, size_t width>
struct FormatRows<int8, rows, width> {
  alignas(config::alignment) int8_t numbers[rows * width];
  float factors[rows];
  float* scales() { return factors; }
  const float* scales() const { return factors; }
  constexpr FormatRows() : numbers{}, factors{} {}
};

// The memory of a cache with room for so many tokens.
template <class Shape, class KeyFormat, class ValueFormat, int capacity>
class TypedRows {
  using Dims = Checked<Shape>;
  static_assert(FormatOf<KeyFormat>::value && FormatOf<ValueFormat>::value,
                "attend: formats of a cache are float, attend::float16, attend::bfloat16 and attend::int8");
  static constexpr size_t rows = core::typed_cache_scale_floats(Dims::kv_heads, capacity);
  static constexpr ptrdiff_t head_rows = ptrdiff_t(rows) / Dims::kv_heads;

 public:
  constexpr TypedRows() = default;

  // key, value: first elements of arrays of at least so many tokens.
  void store(int position, int count, const float* key, const float* value, const core::Paging& paging) {
    constexpr core::Format format = FormatOf<KeyFormat>::format;
    const core::TypedCache cache = {
        keys_.numbers,  values_.numbers, keys_.scales(),  values_.scales(), format, FormatOf<ValueFormat>::format,
        Dims::kv_heads, Dims::head_dim,  Dims::value_dim, capacity,         paging};
    const core::Tensor<const float> keys = {key, ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim};
    const core::Tensor<const float> values = {value, ptrdiff_t(Dims::kv_heads) * Dims::value_dim, Dims::value_dim};
    if constexpr (Same<KeyFormat, ValueFormat>::value) {
      core::store_cache<format>(cache, position, count, keys, values);
    } else {
      core::store(cache, position, count, keys, values);
    }
  }

  // Says in a call where the numbers are and what they are.
  void set(OptionCall& call) const {
    call.problem.key = {as_floats(keys_.numbers), 0, head_rows * Dims::head_dim};
    call.problem.value = {as_floats(values_.numbers), Dims::value_dim, head_rows * Dims::value_dim};
    call.problem.key_panels = true;
    call.options.key_format = FormatOf<KeyFormat>::format;
    call.options.value_format = FormatOf<ValueFormat>::format;
    call.options.key_scales = keys_.scales();
    call.options.value_scales = values_.scales();
    call.options.key_scale_stride = call.options.value_scale_stride = head_rows;
  }

 private:
  // Tensors of the core say float, whatever they are of.
  static const float* as_floats(const void* numbers) { return static_cast<const float*>(numbers); }

  FormatRows<KeyFormat, rows, size_t(Dims::head_dim)> keys_;
  FormatRows<ValueFormat, rows, size_t(Dims::value_dim)> values_;
};

// The last position that a cache takes, less one: the core counts whole segments in an int.
inline constexpr int most_tokens = 0x7fffffff / segment_keys * segment_keys;

}  // namespace detail

// A cache of Shape::max_tokens tokens whose keys and values are kept as KeyFormat and ValueFormat: float, attend::float16,
// attend::bfloat16 or attend::int8. The functions are those of KvCache. A static one is zero-initialised memory without code.
template <class Shape, class KeyFormat, class ValueFormat = KeyFormat>
class FormatCache {
  static_assert(detail::HasMaxTokens<Shape>::value,
                "attend: a FormatCache needs `static constexpr int max_tokens = …;` in the shape");

 public:
  static constexpr int max_tokens = Shape::max_tokens;
  static_assert(max_tokens >= 1, "attend: max_tokens must be at least 1");

  constexpr FormatCache() : rows_(), length_(0) {}

  // Adds the first count tokens of key and value after those already here. False, and no change, when they do not fit (or
  // count is negative or larger than the arrays).
  template <class KeyArray, class ValueArray>
  bool append(const KeyArray& key, const ValueArray& value, int count = detail::Traits<KeyArray>::tokens) {
    constexpr int tokens = detail::Traits<KeyArray>::tokens;
    static_assert(detail::Same<KeyArray, Key<Shape, tokens>>::value,
                  "attend: FormatCache::append takes an attend::Key of the cache's own shape first");
    static_assert(
        detail::Same<ValueArray, Value<Shape, tokens>>::value,
        "attend: FormatCache::append takes an attend::Value of the cache's own shape, with as many tokens as the key, second");
    if (count < 0 || count > tokens || count > max_tokens - length_) return false;
    rows_.store(length_, count, key.data[0][0], value.data[0][0], {});
    length_ += count;
    return true;
  }

  // Tokens held.
  constexpr int length() const { return length_; }

  // Keeps the first length tokens. False, and no change, when length is negative or more than are held.
  constexpr bool truncate(int length) {
    if (length < 0 || length > length_) return false;
    length_ = length;
    return true;
  }

  constexpr void clear() { length_ = 0; }

  void set_keys(detail::OptionCall& call) const { rows_.set(call); }

 private:
  detail::TypedRows<Shape, KeyFormat, ValueFormat, max_tokens> rows_;
  int length_;
};

// A cache without end in fixed memory: of all tokens that were ever appended a query sees the last `window`, itself among them,
// and the first `pinned`. The results are those of a cache that keeps all tokens, under the options window_left = window - 1
// and pinned. Positions count from the first token ever; options may narrow the window, and ask for fewer pinned tokens.
//   tokens_at_once  the most that are appended, and prefilled, in one call: each of them sees its whole window
template <class Shape, int window, int pinned = 0, class KeyFormat = float, class ValueFormat = KeyFormat,
          int tokens_at_once = 1>
class RingCache {
  static_assert(window >= 1, "attend: the window of a RingCache must be at least 1 token");
  static_assert(pinned >= 0, "attend: the pinned tokens of a RingCache must be at least 0");
  static_assert(tokens_at_once >= 1, "attend: a RingCache takes at least 1 token at once");
  // Of window + tokens_at_once - 1 positions one after another, the first may be the last of its group.
  static constexpr int ring_groups = core::panel_count(window + tokens_at_once - 2) + 1;
  static constexpr int pinned_groups = core::panel_count(pinned);
  static constexpr core::Paging paging = {nullptr, 0, ring_groups, pinned_groups};

 public:
  static constexpr int most_queries = tokens_at_once;

  constexpr RingCache() : rows_(), length_(0) {}

  // Adds the first count tokens of key and value. False, and no change, when count is negative or larger than the arrays, or
  // when length() would pass 2^31 - 512.
  template <class KeyArray, class ValueArray>
  bool append(const KeyArray& key, const ValueArray& value, int count = detail::Traits<KeyArray>::tokens) {
    constexpr int tokens = detail::Traits<KeyArray>::tokens;
    static_assert(detail::Same<KeyArray, Key<Shape, tokens>>::value,
                  "attend: RingCache::append takes an attend::Key of the cache's own shape first");
    static_assert(
        detail::Same<ValueArray, Value<Shape, tokens>>::value,
        "attend: RingCache::append takes an attend::Value of the cache's own shape, with as many tokens as the key, second");
    static_assert(tokens <= tokens_at_once,
                  "attend: a RingCache takes at most as many tokens at once as its last parameter says");
    if (count < 0 || count > tokens || count > detail::most_tokens - length_) return false;
    rows_.store(length_, count, key.data[0][0], value.data[0][0], paging);
    length_ += count;
    return true;
  }

  // Tokens ever appended, since the last clear().
  constexpr int length() const { return length_; }

  constexpr void clear() { length_ = 0; }

  void set_keys(detail::OptionCall& call) const {
    rows_.set(call);
    call.options.paging = paging;
    call.options.left = window - 1;
    call.options.pinned = pinned;
  }

 private:
  detail::TypedRows<Shape, KeyFormat, ValueFormat, (ring_groups + pinned_groups) * panel_keys> rows_;
  int length_;
};

namespace detail {

template <class Shape, class KeyFormat, class ValueFormat>
struct AnyCacheShape<FormatCache<Shape, KeyFormat, ValueFormat>> {
  using ShapeType = Shape;
};
template <class Shape, int window, int pinned, class KeyFormat, class ValueFormat, int tokens>
struct AnyCacheShape<RingCache<Shape, window, pinned, KeyFormat, ValueFormat, tokens>> {
  using ShapeType = Shape;
};
template <class Shape, int window, int pinned, class KeyFormat, class ValueFormat, int tokens>
struct MostQueries<RingCache<Shape, window, pinned, KeyFormat, ValueFormat, tokens>> {
  static constexpr int value = tokens;
};

}  // namespace detail

namespace detail {

// How a call of a query array is made that asks for a window at most, over a cache of these formats.
template <class QueryArray, class KeyFormat, class ValueFormat>
struct CacheCall : AnyOptions {
  using AnyOptions::run;
  static void run(const core::Problem& problem, const core::Options& options) {
    if constexpr (Same<KeyFormat, ValueFormat>::value) {
      using Query = Traits<QueryArray>;
      core::run_cache<FormatOf<KeyFormat>::format, OptionPlan<typename Query::ShapeType, Query::tokens>::row_block == 1>(
          problem, options);
    } else {
      core::run(problem, options);
    }
  }
};

}  // namespace detail

// The calls of attention.h over these caches. Work memory is an OptionWorkspace<Shape, query tokens>, for decode too.
template <class QueryArray, class Shape, class KeyFormat, class ValueFormat, class OutputArray, class Work, class... Parts>
Status prefill(const QueryArray& query, const FormatCache<Shape, KeyFormat, ValueFormat>& cache, OutputArray& output,
               Work& work, const Options& options = detail::causal_options, const Parts&... part) {
  return detail::prefill_over<detail::CacheCall<QueryArray, KeyFormat, ValueFormat>>(query, cache, output, work,
                                                                                     ScoreOptions<Shape>(options), part...);
}
template <class QueryArray, class Shape, class KeyFormat, class ValueFormat, class OutputArray, class Work, class... Parts>
Status decode(const QueryArray& query, const FormatCache<Shape, KeyFormat, ValueFormat>& cache, OutputArray& output, Work& work,
              const Options& options = detail::no_options, const Parts&... part) {
  return detail::decode_over<detail::CacheCall<QueryArray, KeyFormat, ValueFormat>>(query, cache, output, work,
                                                                                    ScoreOptions<Shape>(options), part...);
}
template <class QueryArray, class Shape, int window, int pinned, class KeyFormat, class ValueFormat, int tokens,
          class OutputArray, class Work, class... Parts>
Status prefill(const QueryArray& query, const RingCache<Shape, window, pinned, KeyFormat, ValueFormat, tokens>& cache,
               OutputArray& output, Work& work, const Options& options = detail::causal_options, const Parts&... part) {
  return detail::prefill_over<detail::CacheCall<QueryArray, KeyFormat, ValueFormat>>(query, cache, output, work,
                                                                                     ScoreOptions<Shape>(options), part...);
}
template <class QueryArray, class Shape, int window, int pinned, class KeyFormat, class ValueFormat, int tokens,
          class OutputArray, class Work, class... Parts>
Status decode(const QueryArray& query, const RingCache<Shape, window, pinned, KeyFormat, ValueFormat, tokens>& cache,
              OutputArray& output, Work& work, const Options& options = detail::no_options, const Parts&... part) {
  return detail::decode_over<detail::CacheCall<QueryArray, KeyFormat, ValueFormat>>(query, cache, output, work,
                                                                                    ScoreOptions<Shape>(options), part...);
}

}  // namespace attend
