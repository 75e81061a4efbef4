// Key/value caches of integer attention: 8-bit numbers, as they are appended, in the order in which kernels read them.
#pragma once

#include "../core/integer_panels.h"
#include "../kv_cache.h"
#include "integer_arrays.h"

namespace attend {
namespace detail {

struct IntegerArrays {
  template <class Shape, int tokens>
  using Keys = IntegerKey<Shape, tokens>;
  template <class Shape, int tokens>
  using Values = IntegerValue<Shape, tokens>;
  template <class Shape>
  using New = NewTokens<Shape, int8_t>;
};

constexpr int chunks_of(int tokens) { return core::whole_chunks(tokens) / integer_chunk; }

// The constants of an integer ring: it is cut into chunks.
template <class Sizes>
struct IntegerRingSizes : RingSizes<Sizes> {
  using Base = RingSizes<Sizes>;
  static_assert(Base::window + Base::sink_tokens <= integer_keys,
                "attend: a query of an IntegerRingCache sees at most 65535 tokens: make its window or its sink_tokens smaller");
  static constexpr int ring_chunks = chunks_of(Base::window + Base::tokens_at_once - 2) + 1;
  static constexpr int sink_chunks = chunks_of(Base::sink_tokens);
  static constexpr int places = (ring_chunks + sink_chunks) * integer_chunk;
};

struct NoIntegerRing {
  static constexpr int window = 0, sink_tokens = 0, ring_chunks = 0, sink_chunks = 0, tokens_at_once = any_number;
};

// Tokens of each head: one after another, or in panels.
template <class Shape, int places, class Ring>
class IntegerRows {
  using Dims = Checked<Shape>;
  static_assert(Dims::head_dim <= 4096, "attend: integer attention takes a head_dim of at most 4096");
  static constexpr bool panels = config::integer_panels;
  static constexpr int room = panels ? core::whole_chunks(places) : places;
  static constexpr int key_dim = panels ? core::integer_panel_dim(Dims::head_dim) : Dims::head_dim;

 public:
  constexpr IntegerRows() : keys_{}, values_{} {}

  void store(int position, int count, const NewTokens<Shape, int8_t>& tokens) {
    for (int i = 0; i < count; ++i) {
      const int chunk = (position + i) / integer_chunk, within = (position + i) % integer_chunk;
      if constexpr (Ring::ring_chunks > 0) {
        if (chunk < Ring::sink_chunks) store_token(chunk * integer_chunk + within, i, tokens);
        store_token((Ring::sink_chunks + chunk % Ring::ring_chunks) * integer_chunk + within, i, tokens);
      } else {
        store_token(position + i, i, tokens);
      }
    }
  }

  core::Tensor<const int8_t> keys() const { return {keys_, key_dim, ptrdiff_t(room) * key_dim}; }
  core::Tensor<const int8_t> values() const { return {values_, Dims::value_dim, ptrdiff_t(room) * Dims::value_dim}; }

 private:
  void store_token(int place, int token, const NewTokens<Shape, int8_t>& tokens) {
    core::Tensor<const int8_t> key = tokens.key, value = tokens.value;
    key.data += token * key.token_stride;
    value.data += token * value.token_stride;
    if constexpr (panels) {
      core::store({keys_, values_, Dims::kv_heads, Dims::head_dim, Dims::value_dim, room}, place, 1, key, value);
    } else {
      for (int head = 0; head < Dims::kv_heads; ++head) {
        const ptrdiff_t row = ptrdiff_t(head) * room + place;
        __builtin_memcpy(keys_ + row * key_dim, key.data + head * key.head_stride, size_t(key_dim));
        __builtin_memcpy(values_ + row * Dims::value_dim, value.data + head * value.head_stride, size_t(Dims::value_dim));
      }
    }
  }

  alignas(config::alignment) int8_t keys_[size_t(Dims::kv_heads) * size_t(room) * size_t(key_dim)];
  alignas(config::alignment) int8_t values_[size_t(Dims::kv_heads) * size_t(room) * size_t(Dims::value_dim)];
};

}  // namespace detail

// A KvCache of integer attention: Shape::max_tokens tokens of 8-bit keys and values.
template <class Shape>
class IntegerKvCache
    : public detail::CacheTokens<Shape, detail::IntegerRows<Shape, detail::Capacity<Shape>::value, detail::NoIntegerRing>,
                                 detail::Capacity<Shape>::value, detail::any_number, detail::IntegerArrays> {
 public:
  static constexpr int max_tokens = detail::Capacity<Shape>::value;
  static_assert(max_tokens <= integer_keys,
                "attend: an IntegerKvCache has at most 65535 tokens; an IntegerRingCache has no end");

  // Keeps the first length tokens. Returns bad_length and changes nothing when length is negative or more than are held.
  constexpr Status truncate(int length) {
    if (length < 0 || length > this->length_) return Status::bad_length;
    this->length_ = length;
    return Status::ok;
  }
};

// A RingCache of integer attention, with the same sizes: window, sink_tokens, tokens_at_once.
template <class Shape, class Sizes>
class IntegerRingCache
    : public detail::CacheTokens<
          Shape, detail::IntegerRows<Shape, detail::IntegerRingSizes<Sizes>::places, detail::IntegerRingSizes<Sizes>>,
          detail::most_tokens, detail::IntegerRingSizes<Sizes>::tokens_at_once, detail::IntegerArrays> {};

namespace detail {

// The traits of an integer cache's type; of other types the shape is void.
template <class Type>
struct IntegerCacheTraits {
  using ShapeType = void;
  using Ring = NoIntegerRing;
};
template <class Shape>
struct IntegerCacheTraits<IntegerKvCache<Shape>> {
  using ShapeType = Shape;
  using Ring = NoIntegerRing;
};
template <class Shape, class Sizes>
struct IntegerCacheTraits<IntegerRingCache<Shape, Sizes>> {
  using ShapeType = Shape;
  using Ring = IntegerRingSizes<Sizes>;
};

}  // namespace detail
}  // namespace attend
