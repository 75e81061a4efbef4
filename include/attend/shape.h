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
//
// Its calls compute in float32. Calls of Integer<Wake>, or of a shape with `using arithmetic = attend::integer;`, compute in
// integers of 8 bits (integer.h), with the same names: Query<Integer<Wake>, tokens>, KvCache<Integer<Wake>> and so on.
#pragma once

#include <stdint.h>

#include "core/attention.h"

#if ATTEND_CPLUSPLUS < 201703L
#error "attend needs C++17 for its C++ surface: compile with -std=c++17 or newer, or use the C surface, attend_c.h"
#include <the flag -std=c++17>  // here the compiler stops: after #error alone it would go on, and complain of every line
#endif

namespace attend {

// The arithmetic of a shape whose calls compute in integers of 8 bits.
struct integer {};

// A shape of the same constants whose calls compute in integers.
template <class Shape>
struct Integer : Shape {
  using arithmetic = integer;
};

namespace detail {

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};

// One of two types.
template <bool first, class First, class Second>
struct Choice {
  using Type = First;
};
template <class First, class Second>
struct Choice<false, First, Second> {
  using Type = Second;
};

// The arithmetic of a shape, and the type of its numbers.
template <class Shape, class = void>
struct ArithmeticOf {
  using Type = float;
};
template <class Shape>
struct ArithmeticOf<Shape, decltype(void(static_cast<typename Shape::arithmetic*>(nullptr)))> {
  using Type = typename Shape::arithmetic;
};
template <class Shape>
constexpr bool is_integer = Same<typename ArithmeticOf<Shape>::Type, integer>::value;
template <class Shape>
using NumberOf = typename Choice<is_integer<Shape>, int8_t, float>::Type;

// A constant of a shape, and whether the shape names it. A missing one is 1: then the compiler reports one error only.
struct Missing {
  static constexpr bool named = false;
  static constexpr int value = 1;
};
template <int number>
struct Named {
  static constexpr bool named = true;
  static constexpr int value = number;
};

// A constant's number; one that is no int is -1, which is refused.
template <class Number>
constexpr int extent(Number number) {
  static_assert(Number(3) / 2 == 1, "attend: the constants of shapes and sizes are of type int");
  return Number(int(number)) == number ? int(number) : -1;
}

// A trait: the constant of that name, or, where a type has none, the third.
#define ATTEND_CONSTANT(Trait, constant, ...) \
  template <class Type, class = void>         \
  struct Trait : __VA_ARGS__ {};              \
  template <class Type>                       \
  struct Trait<Type, decltype(void(int(Type::constant)))> : Named<extent(Type::constant)> {};
ATTEND_CONSTANT(QueryHeads, query_heads, Missing)
ATTEND_CONSTANT(KvHeads, kv_heads, Missing)
ATTEND_CONSTANT(HeadDim, head_dim, Missing)
ATTEND_CONSTANT(MaxTokens, max_tokens, Missing)
ATTEND_CONSTANT(ValueDim, value_dim, HeadDim<Type>)
ATTEND_CONSTANT(ValueHeads, value_heads, KvHeads<Type>)  // of linear attention
// Constants of the sizes of a RingCache.
ATTEND_CONSTANT(Window, window, Missing)
ATTEND_CONSTANT(SinkTokens, sink_tokens, Named<0>)
ATTEND_CONSTANT(TokensAtOnce, tokens_at_once, Named<1>)
#undef ATTEND_CONSTANT

constexpr int at_least_one(int number) { return number < 1 ? 1 : number; }

// The constants of a shape, checked once where it is first used. After an error they are valid numbers.
template <class Shape>
struct Checked {
  static_assert(QueryHeads<Shape>::named, "attend: add `static constexpr int query_heads = ...;` to the shape");
  static_assert(KvHeads<Shape>::named, "attend: add `static constexpr int kv_heads = ...;` to the shape");
  static_assert(HeadDim<Shape>::named, "attend: add `static constexpr int head_dim = ...;` to the shape");
  static_assert(QueryHeads<Shape>::value >= 1, "attend: query_heads must be at least 1");
  static_assert(KvHeads<Shape>::value >= 1, "attend: kv_heads must be at least 1");
  static_assert(HeadDim<Shape>::value >= 1, "attend: head_dim must be at least 1");
  static_assert(ValueDim<Shape>::value >= 1 || ValueDim<Shape>::value == HeadDim<Shape>::value,
                "attend: value_dim must be at least 1");
  static_assert(is_integer<Shape> || Same<typename ArithmeticOf<Shape>::Type, float>::value,
                "attend: the arithmetic of a shape is attend::integer, or left out for float32");
  static_assert(!is_integer<Shape> || HeadDim<Shape>::value <= 4096,
                "attend: the head_dim of an integer shape must be at most 4096");
  static constexpr int query_heads = at_least_one(QueryHeads<Shape>::value);
  static constexpr int head_dim = at_least_one(HeadDim<Shape>::value);
  static constexpr int value_dim = at_least_one(ValueDim<Shape>::value);
  static constexpr bool divides = query_heads % at_least_one(KvHeads<Shape>::value) == 0;
  static_assert(divides || QueryHeads<Shape>::value < 1 || !QueryHeads<Shape>::named,
                "attend: kv_heads must divide query_heads, so that each key/value head serves a whole group of query heads");
  static constexpr int kv_heads = divides ? at_least_one(KvHeads<Shape>::value) : 1;
  static constexpr int value_heads = at_least_one(ValueHeads<Shape>::value);
  static constexpr bool fits_in_keys = value_dim <= head_dim;  // whether values can be the first numbers of keys
};

// Plain storage, [token][head][width], tokens outermost as a projection writes them.
template <int tokens, int heads, int width, class Number>
struct Rows {
  static_assert(tokens >= 1, "attend: an array needs at least 1 token");
  Number data[size_t(at_least_one(tokens))][size_t(heads)][size_t(width)];

  constexpr auto& operator[](int token) { return data[token]; }
  constexpr const auto& operator[](int token) const { return data[token]; }
};

}  // namespace detail

// query[token][head][d]: heads are the query heads, d < head_dim.
template <class Shape, int tokens = 1>
struct Query
    : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::head_dim, detail::NumberOf<Shape>> {};

// key[token][head][d]: heads are the key/value heads, d < head_dim.
template <class Shape, int tokens = 1>
struct Key : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::head_dim, detail::NumberOf<Shape>> {
};

// value[token][head][c]: heads are the value_heads, which are the key/value heads but in linear attention; c < value_dim.
template <class Shape, int tokens = 1>
struct Value
    : detail::Rows<tokens, detail::Checked<Shape>::value_heads, detail::Checked<Shape>::value_dim, detail::NumberOf<Shape>> {};

// The values of keys that begin with them: value c of a token and head is number c of its key, and there is one copy of both,
// as in multi-head latent attention (DeepSeek). Calls take it instead of a Value<Shape, tokens>.
template <class Shape, int tokens>
struct ValuesInKeys {
  static_assert(detail::Checked<Shape>::fits_in_keys,
                "attend: values that are a part of their keys have a value_dim of at most head_dim");
  const Key<Shape, tokens>& key;
};
template <class Shape, int tokens>
constexpr ValuesInKeys<Shape, tokens> values_in(const Key<Shape, tokens>& key) {
  return {key};
}

// output[token][head][c] of the query heads (value_heads if more). Of an integer shape Number may be int16_t: others round it.
template <class Shape, int tokens = 1, class Number = detail::NumberOf<Shape>>
struct Output : detail::Rows<tokens, detail::larger(detail::Checked<Shape>::query_heads, detail::Checked<Shape>::value_heads),
                             detail::Checked<Shape>::value_dim, Number> {
  static_assert(detail::Same<Number, detail::NumberOf<Shape>>::value ||
                    (detail::is_integer<Shape> && detail::Same<Number, int16_t>::value),
                "attend: an Output has the numbers of its shape: leave the third parameter out, or make it int16_t for an "
                "integer shape");
};

// 1 / sqrt(head_dim), the customary scale, by Newton's iteration in double: meant for constants, and the same on every target.
constexpr float default_scale(int head_dim) {
  if (!detail::is_constant()) return core::usual_scale(head_dim);
  double root = head_dim;
  for (int step = 0; step < 64; ++step) root = 0.5 * (root + head_dim / root);
  return float(1.0 / root);
}

namespace detail {

// The shape and the number of tokens of an array type; no shape (void) for any other type.
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

// Whether an array is an output of a shape and so many tokens.
template <class Array, class Shape, int tokens>
constexpr bool is_output_of = Same<Array, Output<Shape, tokens>>::value ||
                              (is_integer<Shape> && Same<Array, Output<Shape, tokens, int16_t>>::value);

// Without reference and const.
template <class Type>
struct Bare {
  using Name = Type;
};
template <class Type>
struct Bare<const Type> : Bare<Type> {};
template <class Type>
struct Bare<Type&> : Bare<Type> {};

template <class Type>
constexpr typename Bare<Type>::Name* null_of() {
  return nullptr;
}

// Whether the argument of a parameter Type&& has a name, and so outlives the call.
template <class Type>
constexpr bool is_named = Same<Type, Type&>::value;

}  // namespace detail
}  // namespace attend
