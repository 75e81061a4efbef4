// Number formats of caches, and the memory in which a cache keeps its keys and values.
#pragma once

#include "../core/options.h"
#include "../options.h"
#include "../shape.h"

namespace attend {

// Formats of the numbers in a cache, as parameters of its type; float is one too. Appended numbers are rounded to the nearest,
// ties to even. int8 keeps a float for each key and value of a head, by which all of its numbers are multiplied. int4 keeps a
// float16 for each 32 neighbours, and rounds as GGUF's Q4_0 does: to -8 to 7 steps of it, core::convert_weights.
struct float16 {
  uint16_t bits;  // IEEE 754 binary16
};
struct bfloat16 {
  uint16_t bits;  // the upper half of a float
};
struct int8 {
  int8_t number;
};
struct int4 {
  core::Int4Group group;  // of 32 neighbours
};

// As a format of a cache: finite numbers that are too large for float16 or int4 become the largest number of the format, with
// their sign, where append refuses them otherwise (Status::out_of_range).
// attend::KvCache<Shape, attend::saturated<attend::float16>> is such a cache.
template <class Format>
struct saturated {};

namespace detail {

template <class Type>
struct FormatOf {
  static constexpr bool value = false;
  static constexpr core::Format format = core::Format::float32;
  using Number = float;
};
template <core::Format number_format, class Numbers>
struct FormatIs {
  static constexpr bool value = true;
  static constexpr core::Format format = number_format;
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
template <>
struct FormatOf<int4> : FormatIs<core::Format::int4, core::Int4Group> {};
template <class Format>
struct FormatOf<saturated<Format>> : FormatOf<Format> {
  static_assert(core::has_end(FormatOf<Format>::format),
                "attend: attend::saturated is of attend::float16 or attend::int4: other formats end where float does");
};

template <class Format>
constexpr bool saturates = false;
template <class Format>
constexpr bool saturates<saturated<Format>> = true;

template <class Format>
constexpr bool in_groups = FormatOf<Format>::format == core::Format::int4;

// Whether rows of a width are whole groups of a format.
template <class Format>
constexpr bool has_width(int width) {
  return !in_groups<Format> || width % core::int4_group == 0;
}

// A call as the core takes it, while it is being filled in (calls.h): first the cache or the arrays set the number of keys
// and how they lie, and what a ring keeps.
struct OptionCall {
  core::Problem problem{};
  core::Options options{};
};

// Stands for the sizes of a ring in memory that is no ring.
struct NoRing {
  using Sizes = NoRing;
  static constexpr int window = 0, sink_tokens = 0, tokens_at_once = 1, ring_groups = 0, sink_groups = 0;
};

// The tokens of a group. Rings are made of whole groups.
template <class Shape>
constexpr int group_keys = is_integer<Shape> ? integer_chunk : panel_keys;

// Arrays of keys and values by their first elements, [token][kv_head][width], as calls read them and caches take them.
//   value_width  from one head's values to the next head's: head_dim where values are in keys
template <class Shape, int value_width = Checked<Shape>::value_dim>
class ArrayRows {
  using Dims = Checked<Shape>;
  using Number = NumberOf<Shape>;
  static_assert(Dims::value_heads == Dims::kv_heads, "attend: value_heads of their own are for linear attention alone");

 public:
  using RingType = NoRing;
  static constexpr bool needs_no_options = true, cached = false;  // a core::Problem says all of them, without core::Options

  constexpr ArrayRows(const Number* first_key, const Number* first_value) : key_(first_key), value_(first_value) {}

  constexpr ArrayRows from(int token) const {
    return {key_ + ptrdiff_t(token) * Dims::kv_heads * Dims::head_dim,
            value_ + ptrdiff_t(token) * Dims::kv_heads * value_width};
  }

  core::Tensor<const Number> keys() const { return {key_, ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim}; }
  core::Tensor<const Number> values() const { return {value_, ptrdiff_t(Dims::kv_heads) * value_width, value_width}; }

 private:
  const Number* key_;
  const Number* value_;
};

template <class Shape, int tokens>
constexpr ArrayRows<Shape> rows_of(const Key<Shape, tokens>& key, const Value<Shape, tokens>& value) {
  return {key.data[0][0], value.data[0][0]};
}
template <class Shape, int tokens>
constexpr ArrayRows<Shape, Checked<Shape>::head_dim> rows_of(const Key<Shape, tokens>& key,
                                                             const ValuesInKeys<Shape, tokens>& value) {
  return {key.data[0][0], value.key.data[0][0]};
}
template <class ValueArray, class Shape, int tokens>
constexpr bool is_value_of =
    Same<ValueArray, Value<Shape, tokens>>::value || Same<ValueArray, ValuesInKeys<Shape, tokens>>::value;

// Floats, in the layout of core::Cache.
template <class Shape, int capacity>
class PlainRows {
  using Dims = Checked<Shape>;

 public:
  using RingType = NoRing;
  static constexpr bool needs_no_options = true, cached = true;

  constexpr PlainRows() : keys_{}, values_{} {}

  bool store(int position, int count, const ArrayRows<Shape>& tokens) {
    core::store({keys_, values_, Dims::kv_heads, Dims::head_dim, Dims::value_dim, capacity}, position, count, tokens.keys(),
                tokens.values());
    return true;
  }

  core::Tensor<const float> keys() const {
    return {keys_, 0, ptrdiff_t(core::panel_count(capacity)) * panel_keys * Dims::head_dim};
  }
  core::Tensor<const float> values() const { return {values_, Dims::value_dim, ptrdiff_t(capacity) * Dims::value_dim}; }

  // As below, over pages of it.
  template <bool one_row>
  static void run_cache(const core::Problem& problem, const core::Options& options) {
    core::run_cache<core::Format::float32, one_row>(problem, options);
  }

 private:
  alignas(config::alignment) float keys_[core::cache_key_floats(Dims::kv_heads, Dims::head_dim, capacity)];
  alignas(config::alignment) float values_[core::cache_value_floats(Dims::kv_heads, Dims::value_dim, capacity)];
};

// Keys or values in another format: their numbers and, if the format has any, their scales.
template <class Format, size_t rows, size_t width>
struct FormatRows {
  static constexpr size_t row = in_groups<Format> ? (width + core::int4_group - 1) / core::int4_group : width;
  alignas(config::alignment) typename FormatOf<Format>::Number numbers[rows * row];
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

// Numbers of any formats, in the layout of core::FormatCache, in a ring or not.
template <class Shape, class KeyFormat, class ValueFormat, int capacity, class Ring = NoRing>
class FormatCacheRows {
  using Dims = Checked<Shape>;
  static_assert(FormatOf<KeyFormat>::value && FormatOf<ValueFormat>::value,
                "attend: formats of a cache are float, attend::float16, attend::bfloat16, attend::int8 and attend::int4");
  static_assert(
      has_width<KeyFormat>(Dims::head_dim) && has_width<ValueFormat>(Dims::value_dim),
      "attend: keys or values of attend::int4 have a head_dim or value_dim that is a multiple of 32, which share a scale");
  static constexpr size_t rows = core::format_cache_rows(Dims::kv_heads, capacity);
  static constexpr ptrdiff_t head_rows = ptrdiff_t(rows) / Dims::kv_heads;
  static constexpr bool is_ring = Ring::window > 0;
  static constexpr core::Paging paging = {nullptr, 0, Ring::ring_groups, Ring::sink_groups};
  static constexpr core::Format key_format = FormatOf<KeyFormat>::format, value_format = FormatOf<ValueFormat>::format;
  static constexpr bool one_format = key_format == value_format;

 public:
  using RingType = Ring;
  static constexpr bool needs_no_options = false, cached = true;

  constexpr FormatCacheRows() = default;

  bool store(int position, int count, const ArrayRows<Shape>& tokens) {
    const core::FormatCache cache = {keys_.numbers, values_.numbers,      keys_.scales(),        values_.scales(), key_format,
                                     value_format,  Dims::kv_heads,       Dims::head_dim,        Dims::value_dim,  capacity,
                                     paging,        saturates<KeyFormat>, saturates<ValueFormat>};
    if constexpr (one_format) {
      return core::store_cache<key_format>(cache, position, count, tokens.keys(), tokens.values());
    } else {
      return core::store(cache, position, count, tokens.keys(), tokens.values());
    }
  }

  void set(OptionCall& call) const {
    call.problem.key = {keys_.numbers, 0, head_rows * Dims::head_dim};
    call.problem.value = {values_.numbers, Dims::value_dim, head_rows * Dims::value_dim};
    call.options.key_format = key_format;
    call.options.value_format = value_format;
    call.options.key_scales = keys_.scales();
    call.options.value_scales = values_.scales();
    call.options.key_scale_stride = call.options.value_scale_stride = head_rows;
    if constexpr (is_ring) {
      call.options.paging = paging;
      call.options.left = Ring::window - 1;
      call.options.sink_tokens = Ring::sink_tokens;
    }
  }

  // A call whose options set nothing beyond a window, with blocks of one row or of more.
  template <bool one_row>
  static void run_cache(const core::Problem& problem, const core::Options& options) {
    if constexpr (one_format) {
      core::run_cache<key_format, one_row>(problem, options);
    } else {
      core::Floats::run(problem, options);
    }
  }

 private:
  FormatRows<KeyFormat, rows, size_t(Dims::head_dim)> keys_{};
  FormatRows<ValueFormat, rows, size_t(Dims::value_dim)> values_{};
};

// The pages of a sequence. They lie in a pool, whose memory is laid out as in a cache of the same shape.
template <class Shape, class Pool, int page_tokens, int pages>
class PagedRows {
 public:
  using RingType = NoRing;
  static constexpr bool needs_no_options = is_integer<Shape>, cached = true;  // integer_calls.h fills in the pages

  bool add(Pool& pool, int pool_pages, int page) {
    bool is_free = count_ < pages && page >= 0 && page < pool_pages && (count_ == 0 || pool_ == &pool);
    for (int i = 0; i < count_; ++i) is_free = is_free && table_[i] != page;
    if (!is_free) return false;
    pool_ = &pool;
    table_[count_++] = page;
    return true;
  }
  constexpr int count() const { return count_; }
  constexpr int tokens() const { return count_ * page_tokens; }  // that there is room for
  constexpr int page(int index) const { return index >= 0 && index < count_ ? table_[index] : -1; }
  void remove() { --count_; }

  bool store(int position, int count, const ArrayRows<Shape>& tokens) {
    bool fits = true;
    for (int i = 0; i < count && fits;) {
      const int within = (position + i) % page_tokens, here = smaller(page_tokens - within, count - i);
      fits = pool_->store(table_[(position + i) / page_tokens] * page_tokens + within, here, tokens.from(i));
      i += here;
    }
    return fits;
  }

  core::Paging paging() const { return {table_, page_tokens / group_keys<Shape>}; }
  // Without a page there is nothing to read.
  auto keys() const { return count_ > 0 ? pool_->keys() : core::Tensor<const NumberOf<Shape>>{}; }
  auto values() const { return count_ > 0 ? pool_->values() : core::Tensor<const NumberOf<Shape>>{}; }
  void set(OptionCall& call) const {
    if constexpr (Pool::needs_no_options) {
      call.problem.key = keys();
      call.problem.value = values();
    } else if (count_ > 0) {
      pool_->set(call);
    }
    call.options.paging = paging();
  }
  template <bool one_row>
  static void run_cache(const core::Problem& problem, const core::Options& options) {
    Pool::template run_cache<one_row>(problem, options);
  }

 private:
  Pool* pool_ = nullptr;
  int32_t table_[size_t(pages)]{};
  int count_ = 0;
};

template <class Rows>
constexpr bool is_paged = false;
template <class Shape, class Pool, int page_tokens, int pages>
constexpr bool is_paged<PagedRows<Shape, Pool, page_tokens, pages>> = true;

// The memory of a cache.
template <class Shape, class KeyFormat, class ValueFormat, int capacity, class Ring, class = typename ArithmeticOf<Shape>::Type>
struct RowsOf {
  static_assert(!is_integer<Shape>, "attend: a cache of an integer shape needs #include <attend/integer.h>");
  using Type = FormatCacheRows<Shape, KeyFormat, ValueFormat, capacity, Ring>;
};
template <class Shape, int capacity>
struct RowsOf<Shape, float, float, capacity, NoRing, float> {
  using Type = PlainRows<Shape, capacity>;
};

}  // namespace detail
}  // namespace attend
