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
  static_assert(detail::are_floats<From, To>,
                "attend: activate takes arrays of floats of any number of extents, and attend::Query, Key, Value and Output");
  static_assert(detail::are_as_many<To, From>, "attend: the arrays of activate must have as many floats as each other");
  constexpr size_t count = detail::FloatArray<To>::count;
  static_assert(count <= 0x7fffffff, "attend: activate takes arrays of at most 2147483647 floats");
  core::activate<activation>(detail::first_of(from), nullptr, int(count), detail::first_of(to));
}

// In place.
template <Activation activation, class Array>
void activate(Array& array) {
  activate<activation>(array, array);
}

// A gated product: to = f(gate) * up. It may be one of them.
template <Activation activation, class Gate, class Up, class To>
void activate(const Gate& gate, const Up& up, To& to) {
  static_assert(detail::are_floats<Gate, Up, To>,
                "attend: activate takes arrays of floats of any number of extents, and attend::Query, Key, Value and Output");
  static_assert(detail::are_as_many<To, Gate, Up>, "attend: the arrays of activate must have as many floats as each other");
  constexpr size_t count = detail::FloatArray<To>::count;
  static_assert(count <= 0x7fffffff, "attend: activate takes arrays of at most 2147483647 floats");
  core::activate<activation>(detail::first_of(gate), detail::first_of(up), int(count), detail::first_of(to));
}

}  // namespace attend
