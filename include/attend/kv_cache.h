// A key/value cache of fixed capacity. The whole cost in memory is sizeof(KvCache<Shape>).
#pragma once

#include "core.h"
#include "shape.h"

namespace attend {

// Keys are kept as panels, so that decode and prefill both read them as they lie. A static cache is zero-initialised memory
// without any code (in a static struct, only if the struct's other members are initialised too: `attend::Output<Shape>
// out{};`). Sharing one between threads needs the caller's lock only while somebody changes it.
template <class Shape>
class KvCache {
  using Dims = detail::Checked<Shape>;
  static_assert(detail::HasMaxTokens<Shape>::value,
                "attend: a KvCache needs `static constexpr int max_tokens = …;` in the shape");

 public:
  static constexpr int max_tokens = Shape::max_tokens;
  static_assert(max_tokens >= 1, "attend: max_tokens must be at least 1");

  constexpr KvCache() : keys_{}, values_{}, length_(0) {}

  // Adds the first count tokens of key and value after those already here. False, and no change, when they do not fit (or
  // count is negative or larger than the arrays).
  template <class KeyArray, class ValueArray>
  bool append(const KeyArray& key, const ValueArray& value, int count = detail::Traits<KeyArray>::tokens) {
    constexpr int tokens = detail::Traits<KeyArray>::tokens;
    static_assert(detail::Same<KeyArray, Key<Shape, tokens>>::value,
                  "attend: KvCache::append takes an attend::Key of the cache's own shape first");
    static_assert(
        detail::Same<ValueArray, Value<Shape, tokens>>::value,
        "attend: KvCache::append takes an attend::Value of the cache's own shape, with as many tokens as the key, second");
    if (count < 0 || count > tokens || count > max_tokens - length_) return false;
    core::store({keys_, values_, Dims::kv_heads, Dims::head_dim, Dims::value_dim, max_tokens}, length_, count,
                {key.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::head_dim, Dims::head_dim},
                {value.data[0][0], ptrdiff_t(Dims::kv_heads) * Dims::value_dim, Dims::value_dim});
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

  // Where keys and values lie, in the layout of core::Cache.
  core::Tensor<const float> key_panels() const {
    return {keys_, 0, ptrdiff_t(core::panel_count(max_tokens)) * panel_keys * Dims::head_dim};
  }
  core::Tensor<const float> values() const { return {values_, Dims::value_dim, ptrdiff_t(max_tokens) * Dims::value_dim}; }

 private:
  alignas(config::alignment) float keys_[core::cache_key_floats(Dims::kv_heads, Dims::head_dim, max_tokens)];
  alignas(config::alignment) float values_[core::cache_value_floats(Dims::kv_heads, Dims::value_dim, max_tokens)];
  int length_;
};

namespace detail {

template <class Type>
struct CacheShape {
  using ShapeType = void;
};
template <class Shape>
struct CacheShape<KvCache<Shape>> {
  using ShapeType = Shape;
};

}  // namespace detail
}  // namespace attend
