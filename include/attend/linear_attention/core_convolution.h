// The causal convolution in front of linear attention, under the typed surface: each channel is a sequence with a few weights
// of its own. Nothing here is checked. All extents and strides count numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../core/config.h"

namespace attend {

// What the sum of a convolution becomes.
enum class ConvActivation {
  identity,
  silu,  // x / (1 + e^-x), also called swish
};

namespace core {

inline constexpr int most_conv_width = 16;

// The memory of a state: [width - 1][channels], the last inputs, oldest first.
constexpr size_t conv_state_floats(int channels, int width) { return size_t(width - 1) * size_t(channels); }

// One call: for tokens first … tokens - 1 in order,
//
//   output[t] = activation(bias + weights[0] input[t - width + 1] + … + weights[width - 1] input[t])
//
// where inputs before the first one are the state's, or 0 where a document begins. Of tokens that do not exist nothing is read
// and nothing is written. The output must not overlap anything else.
struct Convolution {
  const float* input;         // [tokens][channels]
  const float* weights;       // [channels][width]
  const float* bias;          // [channels], or null for 0
  float* output;              // [tokens][channels]; null: inputs are taken and there are no outputs
  float* state;               // that moves on
  const float* from;          // where state is null: what the call begins with; null: an empty state
  const int32_t* boundaries;  // [documents + 1], as of a call of linear attention
  int documents;
  int channels, width;                    // width: 2 … most_conv_width
  ptrdiff_t input_stride, output_stride;  // from one token to the next
  int first, tokens;
};

// Computes a part of a call, a range of channels; 0 of 1 is the whole. Parts may run side by side.
template <ConvActivation activation>
void run_convolution(const Convolution& call, int part, int parts);

}  // namespace core
}  // namespace attend
