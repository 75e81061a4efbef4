// The numbers of a state as a plain array, for files and runtimes that keep states so: ONNX's past_state and present_state.
#pragma once

#include "linear_state.h"

namespace attend {
namespace detail {

template <class Shape, size_t heads, size_t rows, size_t columns>
constexpr void require_numbers() {
  using Dims = LinearChecked<Shape>;
  static_assert(heads == Dims::value_heads && rows == Dims::head_dim && columns == Dims::value_dim,
                "attend: numbers of a LinearState are a float[value_heads][head_dim][value_dim] of its shape");
  static_assert(!is_integer<Shape>, "attend: numbers of a LinearState are those of states in floats");
}

}  // namespace detail

// numbers: float[value_heads][head_dim][value_dim]. A state that was set counts its tokens from 0, and goes on as the one that
// the numbers come from, but for numbers below 2^-100, which become 0 before its next token, except by the rule linear.
template <class Shape, size_t heads, size_t rows, size_t columns>
void get_numbers(const LinearState<Shape>& state, float (&numbers)[heads][rows][columns]) {
  detail::require_numbers<Shape, heads, rows, columns>();
  core::get_numbers(detail::LinearAccess::head(state), detail::LinearAccess::data(state), numbers[0][0]);
}
template <class Shape, size_t heads, size_t rows, size_t columns>
void set_numbers(LinearState<Shape>& state, const float (&numbers)[heads][rows][columns]) {
  detail::require_numbers<Shape, heads, rows, columns>();
  core::set_numbers(detail::LinearAccess::head(state), numbers[0][0], detail::LinearAccess::data(state));
  detail::LinearAccess::tokens(state) = 0;
}

}  // namespace attend
