// Normalisation and residual addition, with the same bits on every target.
//
//   float x[tokens][width], y[tokens][width];
//   static const float weight[width] = {…}, bias[width] = {…};
//   attend::rms_norm(x, weight, y);              // each row of width floats
//   attend::layer_norm(x, weight, bias, y);
//   attend::rms_norm(query, head_weight, query); // in place; a weight of head_dim floats: each head by itself
//   attend::add(y, x);                           // x += y: from the first to the second
//   attend::multiply(x, gate, y);                // y = x * gate; a gate for each number, or for several side by side
//   attend::hadamard(query);                     // before a cache of 4 bits: queries and keys alike
#pragma once

#include "../options.h"
#include "core_layer.h"
#include "../detail/float_arrays.h"

namespace attend {

namespace detail {

// The rows of an array that are normalised: as wide as the weight or bias; without either, as wide as the last extent.
template <class X, class Weight, class Bias, class Y>
struct NormalisedRows {
  using From = ArrayOf<X>;
  using To = ArrayOf<Y>;
  static_assert(
      are_floats<X, Y>,
      "attend: a normalisation takes arrays of floats of any number of extents, attend::Vectors, Query, Key, Value and Output");
  static_assert(are_as_many<X, Y>, "attend: the input and the result of a normalisation must have as many floats");
  static constexpr bool is_row(bool is_floats, int dimensions) { return is_floats && dimensions == 1; }
  static constexpr bool has_weight = is_row(ArrayOf<Weight>::is_floats, ArrayOf<Weight>::dimensions);
  static constexpr bool has_bias = is_row(ArrayOf<Bias>::is_floats, ArrayOf<Bias>::dimensions);
  static_assert(has_weight || Same<Weight, None>::value, "attend: a weight is a float[width], or attend::none");
  static_assert(has_bias || Same<Bias, None>::value, "attend: a bias is a float[width], or attend::none");
  static constexpr size_t width = has_weight ? ArrayOf<Weight>::count : has_bias ? ArrayOf<Bias>::count : From::last;
  static constexpr bool same_width = !has_weight || !has_bias || ArrayOf<Bias>::count == width;
  static_assert(same_width, "attend: weight and bias of a normalisation must have as many numbers as each other");
  static_assert(!are_floats<X, Y> || !are_as_many<X, Y> || !same_width || (From::has_rows_of(width) && To::has_rows_of(width)),
                "attend: weight and bias must be as long as the rows that they normalise: the array's last extent, or its last "
                "extents together");
  static_assert(From::count <= 0x7fffffff, "attend: a normalisation takes arrays of at most 2147483647 floats");
};

template <class Weight, class Bias, class X, class Y>
core::Normalisation normalisation_of(const X& x, const Weight& weight, const Bias& bias, Y& y, float epsilon) {
  using Arrays = NormalisedRows<X, Weight, Bias, Y>;
  constexpr int width = int(Arrays::width), rows = int(Arrays::From::count / Arrays::width);
  return {first_of(x), width, first_of(y), width, first_of(weight), first_of(bias), rows, width, epsilon};
}

// The arrays of functions that go over them number by number.
template <class First, class... Others>
struct SameNumbers {
  static_assert(are_floats<First, Others...>,
                "attend: add, multiply, activate and hadamard take arrays of floats of any number of extents, attend::Vectors, "
                "Query, Key, Value and Output; of integers add takes a, b, attend::SumScales and their sum");
  static_assert(are_as_many<First, Others...>,
                "attend: arrays of add, multiply, activate and hadamard must have as many floats as each other");
  static constexpr size_t count = ArrayOf<First>::count;
  static_assert(count <= 0x7fffffff, "attend: add, multiply, activate and hadamard take arrays of at most 2147483647 floats");
};

}  // namespace detail

// y = x / sqrt(mean(x^2) + epsilon) * weight, row by row. y may be x. A row whose sum of squares overflows becomes 0.
template <class X, class Weight, class Y>
Status rms_norm(const X& x, const Weight& weight, Y& y, float epsilon = 1e-5f) {
  const core::Normalisation problem = detail::normalisation_of(x, weight, none, y, epsilon);
  if (!core::is_epsilon(epsilon)) return Status::bad_epsilon;
  core::rms_norm(problem);
  return Status::ok;
}

// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with the rules of rms_norm.
template <class X, class Weight, class Bias, class Y>
Status layer_norm(const X& x, const Weight& weight, const Bias& bias, Y& y, float epsilon = 1e-5f) {
  const core::Normalisation problem = detail::normalisation_of(x, weight, bias, y, epsilon);
  if (!core::is_epsilon(epsilon)) return Status::bad_epsilon;
  core::layer_norm(problem);
  return Status::ok;
}

// Catch calls that leave out weight or bias.
template <class X, class Y>
Status rms_norm(const X&, const Y&) {
  static_assert(sizeof(X) == 0, "attend: rms_norm takes x, a weight or attend::none, and y");
  return Status::ok;
}
template <class X, class Y, class Other = detail::None>
Status layer_norm(const X&, const Y&, const Other& = {}) {
  static_assert(sizeof(X) == 0, "attend: layer_norm takes x, a weight or attend::none, a bias or attend::none, and y");
  return Status::ok;
}

// to += from * factor, rounded once: a residual connection.
template <class From, class To>
void add(const From& from, To& to, float factor = 1.0f) {
  core::add(detail::first_of(from), factor, int(detail::SameNumbers<From, To>::count), detail::first_of(to));
}

// to = x * by, each product rounded once. `by` has as many numbers as x, or fewer, of which each multiplies as many of x side
// by side: a number for each head, say. `to` may be x.
template <class X, class By, class To>
void multiply(const X& x, const By& by, To& to) {
  constexpr size_t count = detail::SameNumbers<X, To>::count, factors = detail::ArrayOf<By>::count;
  constexpr bool shares = detail::are_floats<By> && factors <= count && count % factors == 0;
  static_assert(shares, "attend: multiply takes as many factors as numbers, or a factor for each so many of them");
  if constexpr (shares)
    core::multiply(detail::first_of(x), detail::first_of(by), int(count / factors), int(count), detail::first_of(to));
}

// y = the rows of x, whose length is the last extent, times the Hadamard matrix of the largest power of two n that divides it,
// block by block, over the square root of n. Except for rounding, it keeps scores of queries and keys that both went through
// it, and it is its own inverse (outputs of values that went through it come back by it), while sums of magnitudes of a block
// do not overflow. Numbers much larger than others are spread over the row, which a cache of 4 bits rounds better. y may be x.
template <class X, class Y>
void hadamard(const X& x, Y& y) {
  constexpr size_t count = detail::SameNumbers<X, Y>::count;
  constexpr size_t width = detail::ArrayOf<X>::last < 1 ? 1 : detail::ArrayOf<X>::last;
  static_assert(!detail::are_floats<X, Y> || !detail::are_as_many<X, Y> || detail::ArrayOf<Y>::has_rows_of(width),
                "attend: the arrays of hadamard must have rows of the same length");
  core::hadamard(detail::first_of(x), int(count / width), int(width), detail::first_of(y));
}

// In place.
template <class X>
void hadamard(X& x) {
  hadamard(x, x);
}

// Activation functions over arrays, with the same bits on every target; include/guide/exactness.md has their errors.
//
//   attend::activate<attend::Activation::gelu>(hidden);                 // in place, float hidden[tokens][width]
//   attend::activate<attend::Activation::silu>(gate, up, hidden);       // hidden = silu(gate) * up

// to = f(from); the two may be the same array.
template <Activation activation, class From, class To>
void activate(const From& from, To& to) {
  constexpr int count = int(detail::SameNumbers<From, To>::count);
  core::activate<activation>(detail::first_of(from), nullptr, count, detail::first_of(to));
}

// In place.
template <Activation activation, class Array>
void activate(Array& array) {
  activate<activation>(array, array);
}

// A gated product: to = f(gate) * up. It may be one of them.
template <Activation activation, class Gate, class Up, class To>
void activate(const Gate& gate, const Up& up, To& to) {
  constexpr int count = int(detail::SameNumbers<To, Gate, Up>::count);
  core::activate<activation>(detail::first_of(gate), detail::first_of(up), count, detail::first_of(to));
}

// Catches calls that do not name the activation.
template <class... Any>
void activate(const Any&...) {
  static_assert(sizeof...(Any) > 1000,
                "attend: activate takes the function as its template argument: attend::activate<attend::Activation::silu>(x)");
}

}  // namespace attend
