// Activation functions over arrays, with the same bits on every target; README has their errors.
//
//   attend::activate<attend::Activation::gelu>(hidden);                 // in place, float hidden[tokens][width]
//   attend::activate<attend::Activation::silu>(gate, up, hidden);       // hidden = silu(gate) * up
#pragma once

#include "core_layer.h"
#include "float_arrays.h"

namespace attend {

// to = f(from); the two may be the same array.
template <Activation activation, class From, class To>
void activate(const From& from, To& to) {
  using Input = detail::FloatArray<From>;
  using Result = detail::FloatArray<To>;
  static_assert(Input::is_floats && Result::is_floats,
                "attend: activate takes arrays of floats of any number of extents, and attend::Query, Key, Value and Output");
  static_assert(Input::count == Result::count, "attend: the arrays of activate must have as many floats as each other");
  static_assert(Result::count <= 0x7fffffff, "attend: activate takes arrays of at most 2147483647 floats");
  core::activate<activation>(detail::first_float(from), nullptr, int(Result::count), detail::first_float(to));
}

// In place.
template <Activation activation, class Array>
void activate(Array& array) {
  activate<activation>(array, array);
}

// A gated product: to = f(gate) * up. It may be one of them.
template <Activation activation, class Gate, class Up, class To>
void activate(const Gate& gate, const Up& up, To& to) {
  using First = detail::FloatArray<Gate>;
  using Second = detail::FloatArray<Up>;
  using Result = detail::FloatArray<To>;
  static_assert(First::is_floats && Second::is_floats && Result::is_floats,
                "attend: activate takes arrays of floats of any number of extents, and attend::Query, Key, Value and Output");
  static_assert(First::count == Result::count && Second::count == Result::count,
                "attend: the arrays of activate must have as many floats as each other");
  static_assert(Result::count <= 0x7fffffff, "attend: activate takes arrays of at most 2147483647 floats");
  core::activate<activation>(detail::first_float(gate), detail::first_float(up), int(Result::count), detail::first_float(to));
}

}  // namespace attend
