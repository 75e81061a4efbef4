// Weights of products in Q8_0: panels of 16 outputs, widened, or multiplied by one token as they are.
#pragma once

#include "widen.h"

namespace attend_ggml {

// Of 32 inputs of each of the outputs, their scales and their numbers, [input][output].
constexpr int q8_outputs = 16;
struct Q8Panel {
  std::uint16_t scales[q8_outputs];
  std::int8_t numbers[q8_numbers][q8_outputs];
};
void pack_q8(const Q8Block* rows, std::int64_t stride, int outputs, int groups, Q8Panel* to);
void unpack_q8(const Q8Panel* from, int outputs, int groups, Q8Block* rows, std::int64_t stride);
// As a panel of floats, [input][output].
void widen_q8(const Q8Panel* from, int groups, float* to);

// output[o] = sum over i of weights[i][o] * input[i] for the outputs of a panel, in the library's order, and so with the bits
// of widen_q8 and its projection; where can_multiply_q8 says so. A token reads all weights once: floats of them that are
// written, and read again, take as long as the rest.
bool can_multiply_q8();
void multiply_q8_panel(const Q8Panel* weights, int groups, const float* input, float* output);

}  // namespace attend_ggml
