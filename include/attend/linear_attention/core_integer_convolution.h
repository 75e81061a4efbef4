// The causal convolution in integers of 8 bits under the typed surface: core_convolution.h has floats. Nothing here is checked.
#pragma once

#include "../core/integer.h"
#include "core_convolution.h"

namespace attend::core {

// factor / 2^(31 + right), factor 2^30 … 2^31 - 1, right 1 … 31: input scale * weight scale / the sum's scale, 2^-32 … 1/4.
struct ConvScale {
  int32_t factor, right;
};
constexpr bool is_conv_scale(double number) { return number >= 1.0 / (int64_t(1) << 32) && number <= 0.25; }
ATTEND_CONSTEXPR_14 ConvScale conv_scale(double number) {
  const integer_detail::Normalised n = integer_detail::normalise(number, 31);
  return {int32_t(n.mantissa), -n.exponent};
}

// One call, as Convolution. A sum of a bias and products is exact, times its scale it is rounded once, to the nearest (ties
// up), clamped to 8 bits, and looked up in the table.
struct IntegerConvolution {
  const int8_t* input;      // [tokens][channels]
  const int8_t* weights;    // [channels][width]
  const int32_t* bias;      // [channels], or null for 0; at most most_conv_bias in size
  const ConvScale* scales;  // of a channel, scale_stride apart
  const int8_t* table;      // of -128 … 127, or null
  int8_t* output;           // [tokens][channels]; null: inputs are taken and there are no outputs
  int8_t* state;            // [width - 1][channels], or null
  const int8_t* from;       // where state is null: what the call begins with; null: an empty state
  const int32_t* boundaries;
  int documents;
  int channels, width, scale_stride;
  int first, tokens;
};
inline constexpr int32_t most_conv_bias = (1 << 30) - 1 - most_conv_width * 128 * 128;

// Computes a part of a call, a range of channels; 0 of 1 is the whole. As many instructions for any numbers.
void run_convolution(const IntegerConvolution& call, int part, int parts);

}  // namespace attend::core
