// Projections in integers beside their definition in 64-bit integers. Without an allocation, for boards too.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/placed.h"
#include "../support/random.h"
#include "attend/layers/core_linear.h"

namespace attend_test {

struct ProjectionShape {
  int inputs, outputs, tokens, input_zero, output_zero;
  bool bias, one_multiplier;
};

// Around the numbers of inputs, outputs and tokens that kernels take at a time.
constexpr ProjectionShape projection_shapes[] = {
    {0, 3, 2, 0, 5, true, false},     {1, 1, 1, -128, 0, false, false}, {3, 2, 2, 127, -7, true, true},
    {4, 5, 1, 0, 127, false, false},  {16, 8, 3, 1, -128, true, false}, {63, 7, 2, -3, 11, true, false},
    {64, 16, 3, 0, 1, false, true},   {65, 17, 4, 9, -2, true, false},  {130, 33, 5, -1, 0, true, false},
    {160, 64, 1, 0, 0, false, false}, {257, 3, 4, 100, 1, false, true}, {1024, 2, 1, -128, 0, true, false},
};

constexpr int projection_gap = 3;  // numbers between rows, which strides leave out

// The nearest whole number to sum * factor / 2^shift, ties up, by division and remainder.
inline int64_t nearest(int64_t sum, const attend::core::IntegerMultiplier& by) {
  const int64_t product = sum * by.factor, divisor = int64_t(1) << by.shift;
  int64_t whole = product / divisor, rest = product % divisor;
  if (rest < 0) rest += divisor, --whole;
  return whole + (rest >= divisor / 2);
}

template <class Output>
int64_t projected(const attend::core::IntegerLinear& of, int token, int output) {
  int64_t sum = of.bias == nullptr ? 0 : of.bias[output];
  for (int i = 0; i < of.inputs; ++i) {
    sum += of.weights[output * of.weight_stride + i] * (of.input[token * of.input_stride + i] - of.input_zero);
  }
  if (sizeof(Output) == 4) return sum;
  const int64_t number = nearest(sum, of.multipliers[output * of.multiplier_stride]) + of.output_zero;
  const int64_t end = int64_t(1) << (8 * sizeof(Output) - 1);
  return number < -end ? -end : number >= end ? end - 1 : number;
}

// Whether a call writes what the definition says, and nothing between its rows; packed: the weights, packed, or null.
template <class Output>
bool is_projected(const attend::core::IntegerLinear& of, const int8_t* packed = nullptr) {
  Output* const found = placed(static_cast<Output*>(of.output), size_t(of.tokens * of.output_stride));
  for (int i = 0; i < of.tokens * int(of.output_stride); ++i) found[i] = Output(77);
  attend::core::IntegerLinear linear = of;
  linear.output = found;
  if (packed != nullptr) linear.weights = packed, linear.weight_stride = of.inputs;
  packed != nullptr ? attend::core::run_packed_integer_linear<sizeof(Output)>(linear)
                    : attend::core::run_integer_linear<sizeof(Output)>(linear);
  bool right = true;
  for (int t = 0; t < of.tokens; ++t) {
    for (int o = 0; o < int(of.output_stride); ++o) {
      right &= found[t * of.output_stride + o] == (o < of.outputs ? projected<Output>(of, t, o) : 77);
    }
  }
  return right;
}

// Rows of weights, to pack.
struct WeightRows {
  const int8_t* first;
  ptrdiff_t stride;
  const int8_t* operator[](int output) const { return first + output * stride; }
};

// Of packed weights. Embedded processors have none of their own.
constexpr size_t packed_bytes(const ProjectionShape& of) {
  return attend::config::embedded ? 0 : attend::core::packed_integer_weight_bytes(of.outputs, of.inputs);
}

// A projection of random numbers, which lie in `memory` one after the other: multipliers, bias, outputs, inputs, weights,
// packed weights.
constexpr size_t projection_bytes(const ProjectionShape& of) {
  return packed_bytes(of) + size_t(of.outputs) * (sizeof(attend::core::IntegerMultiplier) + 4) +
         size_t(of.tokens * (of.outputs + projection_gap)) * 4 +
         size_t(of.tokens + of.outputs) * size_t(of.inputs + projection_gap);
}
inline attend::core::IntegerLinear random_projection(const ProjectionShape& of, Random& random, void* memory) {
  attend::core::IntegerLinear linear{};
  linear.inputs = of.inputs, linear.outputs = of.outputs, linear.tokens = of.tokens;
  linear.input_zero = of.input_zero, linear.output_zero = of.output_zero;
  linear.input_stride = linear.weight_stride = of.inputs + projection_gap;
  linear.output_stride = of.outputs + projection_gap;
  linear.multiplier_stride = of.one_multiplier ? 0 : 1;
  char* next = static_cast<char*>(memory);
  auto* const multipliers = take_next<attend::core::IntegerMultiplier>(next, size_t(of.outputs));
  int32_t* const bias = take_next<int32_t>(next, size_t(of.outputs));
  int8_t* rows = reinterpret_cast<int8_t*>(next + 4 * of.tokens * linear.output_stride);
  linear.output = next;
  // Behind the last row there is no gap.
  const auto take = [&](int count, ptrdiff_t stride) {
    int8_t* const bytes = placed(rows, size_t(count * stride - projection_gap));
    for (ptrdiff_t i = 0; i < count * stride - projection_gap; ++i) bytes[i] = int8_t(random.between(-128, 127));
    return rows += count * stride, bytes;
  };
  const int32_t most = attend::core::most_integer_bias(of.inputs);
  for (int o = 0; o < of.outputs; ++o) {
    multipliers[o] = attend::core::integer_multiplier((1 + double(random.between(0, 999))) / 1e5);
    bias[o] = o % 4 == 1 ? most : o % 4 == 3 ? -most - 1 : random.between(-30000, 30000);
  }
  linear.multipliers = multipliers;
  linear.bias = of.bias ? bias : nullptr;
  linear.input = take(of.tokens, linear.input_stride);
  linear.weights = take(of.outputs, linear.weight_stride);
  return linear;
}

// Every kind of output of a shape.
inline bool is_projected(const ProjectionShape& of, Random& random, void* memory) {
  const attend::core::IntegerLinear linear = random_projection(of, random, memory);
  const auto all = [&linear](const int8_t* packed) {
    return is_projected<int8_t>(linear, packed) && is_projected<int16_t>(linear, packed) &&
           is_projected<int32_t>(linear, packed);
  };
  if (!all(nullptr)) return false;
  if (attend::config::embedded) return true;
  int8_t* const packed = static_cast<int8_t*>(memory) + (projection_bytes(of) - packed_bytes(of));
  attend::core::pack_integer_weights(WeightRows{linear.weights, linear.weight_stride}, of.outputs, of.inputs, packed);
  return all(packed);
}

}  // namespace attend_test
