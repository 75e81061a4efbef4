// Linear projections in integers.
//
//   for each output:  for each token:
//     sum = weights . input - input_zero * (sum of weights) + bias
//     output = clamped(round(sum * factor / 2^shift) + output_zero)
#pragma once

#include "../../include/attend/core_integer_linear.h"

namespace attend {
namespace {

// The multiply-adds, which an instruction set with products of 8 bits may compute in its own way: the sum is exact. Four at a
// time, because a small part spends as much on counting as on a product.
inline int32_t integer_dot(const int8_t* a, const int8_t* b, int count) {
  int32_t sum = 0;
  int i = 0;
  for (; i + 4 <= count; i += 4, a += 4, b += 4) sum += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  for (; i < count; ++i) sum += *a++ * *b++;
  return sum;
}

inline int32_t sum_of_weights(const int8_t* weights, int count) {
  int32_t sum = 0;
  for (int i = 0; i < count; ++i) sum += weights[i];
  return sum;
}

// Without a branch that depends on data. |a|, |b| < 2^62.
inline int64_t lower_of(int64_t a, int64_t b) { return b + ((a - b) & ((a - b) >> 63)); }
inline int64_t higher_of(int64_t a, int64_t b) { return a - ((a - b) & ((a - b) >> 63)); }

inline int64_t multiplied(int32_t sum, const core::IntegerMultiplier& by) {
  return (int64_t(sum) * by.factor + (int64_t(1) << (by.shift - 1))) >> by.shift;
}

// The end of an output: [low, high] is the range of its type.
template <class Output>
Output integer_output(int32_t sum, const core::IntegerLinear& linear, int output) {
  if constexpr (sizeof(Output) == sizeof(int32_t)) {
    return sum;
  } else {
    constexpr int64_t high = (1 << (8 * sizeof(Output) - 1)) - 1, low = -high - 1;
    const int64_t number = multiplied(sum, linear.multipliers[output * linear.multiplier_stride]) + linear.output_zero;
    return Output(higher_of(lower_of(number, high), low));
  }
}

template <class Output>
void integer_linear(const core::IntegerLinear& linear) {
  for (int o = 0; o < linear.outputs; ++o) {
    const int8_t* const weights = linear.weights + o * linear.weight_stride;
    int32_t start = linear.bias == nullptr ? 0 : linear.bias[o];
    if (linear.input_zero != 0) start -= linear.input_zero * sum_of_weights(weights, linear.inputs);
    for (int t = 0; t < linear.tokens; ++t) {
      const int32_t sum = start + integer_dot(weights, linear.input + t * linear.input_stride, linear.inputs);
      static_cast<Output*>(linear.output)[t * linear.output_stride + o] = integer_output<Output>(sum, linear, o);
    }
  }
}

}  // namespace
}  // namespace attend
