// Linear projections in integers: 8-bit inputs and weights, and not one float instruction. Plain structs, as in core/linear.h;
// nothing is checked here. Programs without such projections hold none of their code.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "integer.h"

namespace attend {
namespace core {

// A factor above 0 as an integer and a shift: factor / 2^shift.
struct IntegerMultiplier {
  int32_t factor;  // 2^30 … 2^31 - 1, or 0
  int32_t shift;   // 1 … 62
};

// Whether integer_multiplier takes a number: 2^-32 … 2^29, without 2^29 itself.
constexpr bool is_integer_multiplier(double number) { return number >= 0x1p-32 && number < 0x1p29; }

// number: input scale * scale of the output's weights / output scale. Meant for constants, and fit for any target.
ATTEND_CONSTEXPR_14 IntegerMultiplier integer_multiplier(double number) {
  const integer_detail::Normalised n = integer_detail::normalise(number, 31);
  if (n.mantissa == 0) return {0, 1};
  return {int32_t(n.mantissa), 31 - n.exponent};
}

// The most inputs of a projection: 65,536 products of a weight and an input less its zero point, each at most 128 * 255, fit
// into 32 bits.
inline constexpr int integer_linear_inputs = 65536;

// y = W x + b for some tokens:
//
//   sum = sum over i of weights[o][i] * (input[t][i] - input_zero), plus bias[o]                exact, of 32 bits
//   output[t][o] = clamped(sum * factor / 2^shift, rounded to the nearest, ties up, + output_zero)
//
// A sum with its bias must stay within 32 bits; it does wherever |bias| < 2^23.
struct IntegerLinear {
  const int8_t* input;                   // [tokens][inputs]
  void* output;                          // [tokens][outputs]; must not overlap anything else
  const int8_t* weights;                 // [outputs][inputs]; their zero point is 0
  const int32_t* bias;                   // [outputs], in steps of input scale * scale of the output's weights; or null
  const IntegerMultiplier* multipliers;  // of output o: multipliers[o * multiplier_stride]; unused by outputs of 32 bits
  int multiplier_stride;                 // 0 or 1
  ptrdiff_t input_stride;                // from token to token
  ptrdiff_t output_stride;               // likewise
  ptrdiff_t weight_stride;               // from output to output
  int inputs;                            // 0 … integer_linear_inputs
  int outputs;                           // >= 0
  int tokens;                            // >= 0
  int input_zero;                        // -128 … 127
  int output_zero;                       // of the output
};

// Computes the projection. Output: int8_t, int16_t, or int32_t for the sums themselves, without multiplier and zero point. A
// program holds the code of those that it names. The number of instructions depends on the extents alone.
template <class Output>
void run_integer_linear(const IntegerLinear& linear);

}  // namespace core
}  // namespace attend
