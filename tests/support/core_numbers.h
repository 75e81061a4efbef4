// Calls of the core by the numbers of their tensors, which a problem does not say the type of.
#pragma once

#include <stddef.h>

#include "attend/core/options.h"

namespace attend_test {

// What computes with states, queries or outputs of a type.
template <class Number>
struct ArithmeticOf {
  using Type = attend::core::Integers;
};
template <>
struct ArithmeticOf<float> {
  using Type = attend::core::Floats;
};
template <class Number>
using Arithmetic = typename ArithmeticOf<Number>::Type;

// A tensor of a problem with its type, from a token on.
template <class Number>
attend::core::Tensor<const Number> numbers_of(const attend::core::Tensor<const void>& tensor, int token = 0) {
  return {static_cast<const Number*>(tensor.data) + token * tensor.token_stride, tensor.token_stride, tensor.head_stride};
}

// A row of it.
template <class Number>
const Number* row_of(const attend::core::Tensor<const void>& tensor, ptrdiff_t token, int head) {
  return static_cast<const Number*>(tensor.data) + token * tensor.token_stride + head * tensor.head_stride;
}

// Moves a tensor on by so many numbers.
template <class Number, class Data>
void move_by(attend::core::Tensor<Data>& tensor, ptrdiff_t numbers) {
  attend::core::move_bytes(tensor.data, numbers * ptrdiff_t(sizeof(Number)));
}

// A call over arrays without gaps, with the fields that its case has; without blocks and scratch.
template <class Case>
attend::core::Problem problem_over(const Case& c, const void* query, const void* key, const void* value, void* output) {
  attend::core::Problem p{};
  p.query = {query, ptrdiff_t(c.query_heads) * c.head_dim, c.head_dim};
  p.output = {output, ptrdiff_t(c.query_heads) * c.value_dim, c.value_dim};
  p.key = {key, ptrdiff_t(c.kv_heads) * c.head_dim, c.head_dim};
  p.value = {value, ptrdiff_t(c.kv_heads) * c.value_dim, c.value_dim};
  p.query_heads = c.query_heads;
  p.kv_heads = c.kv_heads;
  p.head_dim = c.head_dim;
  p.value_dim = c.value_dim;
  p.queries = c.queries;
  p.keys = c.keys;
  p.offset = c.offset;
  p.scale = c.scale;
  p.causal = c.causal;
  return p;
}

}  // namespace attend_test
