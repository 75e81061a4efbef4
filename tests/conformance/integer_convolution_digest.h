// The digest of causal convolutions in integers: outputs and the state behind the last token, in every cut into calls, in
// parts, and where drafts are computed from a state that stays and appended then. Freestanding, as plain_digest.h.
#pragma once

#include "attend/linear_attention/core_integer_convolution.h"
#include "convolution_digest.h"

namespace attend_test {

struct IntegerConvolutionCase : ConvolutionCase {};
constexpr IntegerConvolutionCase integer_convolution(ConvActivation activation, int channels, int width, bool bias,
                                                     int tokens) {
  return {convolution(activation, channels, width, bias, tokens)};
}
constexpr size_t digest_bytes(const IntegerConvolutionCase& c) {
  return 12 * size_t(c.channels) + 256 + 2 * rows_floats(c) + size_t(c.channels) * size_t(c.width) + state_floats(c);
}

struct IntegerConvolutionData {
  attend::core::ConvScale* scales;
  int32_t* bias;
  int8_t *table, *input, *output, *weights, *state;
};
inline IntegerConvolutionData integer_convolution_data(const IntegerConvolutionCase& c, void* memory) {
  IntegerConvolutionData d;
  char* next = static_cast<char*>(memory);
  d.scales = take_next<attend::core::ConvScale>(next, size_t(c.channels));
  d.bias = take_next<int32_t>(next, size_t(c.channels));
  d.table = take_next<int8_t>(next, 256);
  d.input = take_next<int8_t>(next, rows_floats(c)), d.output = take_next<int8_t>(next, rows_floats(c));
  d.weights = take_next<int8_t>(next, size_t(c.channels) * size_t(c.width)), d.state = take_next<int8_t>(next, state_floats(c));
  return d;
}
inline void draw_convolution(const IntegerConvolutionCase& c, const IntegerConvolutionData& d, uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < c.channels; ++i) {
    d.bias[i] = random.between(-20000, 20000) * (i % 16 == 15 ? 1 << 15 : 1);
    d.scales[i] = {random.between(1 << 30, 0x7fffffff), random.between(1, 13) + (i % 9 == 8 ? 18 : 0)};
  }
  for (int i = 0; i < 256; ++i) d.table[i] = int8_t(random.between(-128, 127));
  for (size_t i = 0; i < rows_floats(c); ++i) d.input[i] = int8_t(random.between(-128, 127));
  for (size_t i = 0; i < size_t(c.channels) * size_t(c.width); ++i) d.weights[i] = int8_t(random.between(-128, 127));
}

inline attend::core::IntegerConvolution convolution_call(const IntegerConvolutionCase& c, const IntegerConvolutionData& d,
                                                         int first, int end) {
  attend::core::IntegerConvolution call{};
  call.input = d.input + first * c.channels, call.output = d.output + first * c.channels;
  call.weights = d.weights, call.bias = c.bias ? d.bias : nullptr, call.state = d.state;
  call.scales = d.scales, call.scale_stride = 1;
  call.table = c.activation == ConvActivation::silu ? d.table : nullptr;
  call.channels = c.channels, call.width = c.width, call.tokens = end - first;
  return call;
}
inline void run_convolution_case(const IntegerConvolutionCase&, const attend::core::IntegerConvolution& call, int part = 0,
                                 int parts = 1) {
  attend::core::run_convolution(call, part, parts);
}

inline uint64_t compute_digest(const IntegerConvolutionCase& c, void* memory) {
  const IntegerConvolutionData d = integer_convolution_data(c, memory);
  draw_convolution(c, d, uint64_t(c.channels) * 1019u + uint64_t(c.width));
  const int ways[][3] = {{c.tokens, 1, 0}, {1, 1, 0}, {c.tokens, 3, 0}, {5, 2, 1}};
  uint64_t first = 0;
  for (const auto& way : ways) {
    for (size_t i = 0; i < rows_floats(c); ++i) d.output[i] = 0;
    run_convolution_way(c, d, way[0], way[1], way[2] != 0);
    const uint64_t hash = hash_bytes(hash_bytes(hash_begin, d.output, rows_floats(c)), d.state, state_floats(c));
    if (&way == ways) first = hash;
    if (hash != first) return ~first;
  }
  return first;
}

}  // namespace attend_test
