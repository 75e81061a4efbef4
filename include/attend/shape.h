// Shapes as types, and the arrays that have them.
//
// A shape is a struct of named constants:
//
//   struct Wake {
//     static constexpr int query_heads = 4;   // required
//     static constexpr int kv_heads = 2;      // required; divides query_heads (query_heads: plain multi-head, 1: multi-query)
//     static constexpr int head_dim = 32;     // required; width of a query and of a key
//     static constexpr int value_dim = 32;    // width of a value and of an output; head_dim when left out
//     static constexpr int max_tokens = 64;   // capacity of a KvCache; required by it only
//   };
#pragma once

#include "config.h"

namespace attend {
namespace detail {

template <class Type, class = void>
struct HasQueryHeads {
  static constexpr bool value = false;
};
template <class Type>
struct HasQueryHeads<Type, decltype(void(int(Type::query_heads)))> {
  static constexpr bool value = true;
};

template <class Type, class = void>
struct HasKvHeads {
  static constexpr bool value = false;
};
template <class Type>
struct HasKvHeads<Type, decltype(void(int(Type::kv_heads)))> {
  static constexpr bool value = true;
};

template <class Type, class = void>
struct HasHeadDim {
  static constexpr bool value = false;
};
template <class Type>
struct HasHeadDim<Type, decltype(void(int(Type::head_dim)))> {
  static constexpr bool value = true;
};

template <class Type, class = void>
struct HasMaxTokens {
  static constexpr bool value = false;
};
template <class Type>
struct HasMaxTokens<Type, decltype(void(int(Type::max_tokens)))> {
  static constexpr bool value = true;
};

template <class Shape, class = void>
struct ValueDim {
  static constexpr int value = Shape::head_dim;
};
template <class Shape>
struct ValueDim<Shape, decltype(void(int(Shape::value_dim)))> {
  static constexpr int value = Shape::value_dim;
};

// The constants of a shape, checked once where it is first used.
template <class Shape>
struct Checked {
  static_assert(HasQueryHeads<Shape>::value, "attend: add `static constexpr int query_heads = …;` to the shape");
  static_assert(HasKvHeads<Shape>::value, "attend: add `static constexpr int kv_heads = …;` to the shape");
  static_assert(HasHeadDim<Shape>::value, "attend: add `static constexpr int head_dim = …;` to the shape");
  static constexpr int query_heads = Shape::query_heads;
  static constexpr int kv_heads = Shape::kv_heads;
  static constexpr int head_dim = Shape::head_dim;
  static constexpr int value_dim = ValueDim<Shape>::value;
  static_assert(query_heads >= 1, "attend: query_heads must be at least 1");
  static_assert(kv_heads >= 1, "attend: kv_heads must be at least 1");
  static_assert(kv_heads < 1 || query_heads % (kv_heads < 1 ? 1 : kv_heads) == 0,
                "attend: kv_heads must divide query_heads, so that each key/value head serves a whole group of query heads");
  static_assert(head_dim >= 1, "attend: head_dim must be at least 1");
  static_assert(value_dim >= 1, "attend: value_dim must be at least 1");
};

// Plain storage, [token][head][width], tokens outermost as a projection writes them.
template <int tokens, int heads, int width>
struct Rows {
  static_assert(tokens >= 1, "attend: an array needs at least 1 token");
  float data[size_t(tokens)][size_t(heads)][size_t(width)];

  constexpr auto& operator[](int token) { return data[token]; }
  constexpr const auto& operator[](int token) const { return data[token]; }
};

}  // namespace detail

// query[token][head][d]: heads are the query heads, d < head_dim.
template <class Shape, int tokens = 1>
struct Query : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::head_dim> {};

// key[token][head][d]: heads are the key/value heads, d < head_dim.
template <class Shape, int tokens = 1>
struct Key : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::head_dim> {};

// value[token][head][c]: heads are the key/value heads, c < value_dim.
template <class Shape, int tokens = 1>
struct Value : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::value_dim> {};

// output[token][head][c]: heads are the query heads, c < value_dim.
template <class Shape, int tokens = 1>
struct Output : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::value_dim> {};

// 1 / sqrt(head_dim), the customary scale, by Newton's iteration in double: meant for constants, and the same on every target.
constexpr float default_scale(int head_dim) {
  double root = head_dim;
  for (int step = 0; step < 64; ++step) root = 0.5 * (root + head_dim / root);
  return float(1.0 / root);
}

namespace detail {

// Which shape and how many tokens an array type has; no shape (void) for any other type.
template <class Type>
struct Traits {
  using ShapeType = void;
  static constexpr int tokens = 0;
};
template <template <class, int> class Array, class Shape, int count>
struct Traits<Array<Shape, count>> {
  using ShapeType = Shape;
  static constexpr int tokens = count;
};

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};

}  // namespace detail
}  // namespace attend
