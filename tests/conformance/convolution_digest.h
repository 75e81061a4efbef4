// The digest of causal convolutions: outputs and the state behind the last token, which are the same in every cut into calls,
// in parts, and where drafts are computed from a state that stays and appended then. Freestanding, as plain_digest.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/placed.h"
#include "../support/random.h"
#include "attend/linear_attention/core_convolution.h"
#include "hash.h"

namespace attend_test {

using attend::ConvActivation;

struct ConvolutionCase {
  ConvActivation activation;
  int channels, width;
  bool bias;
  int tokens;
};
constexpr ConvolutionCase convolution(ConvActivation activation, int channels, int width, bool bias, int tokens) {
  return {activation, channels, width, bias, tokens};
}
constexpr size_t rows_floats(const ConvolutionCase& c) { return size_t(c.tokens) * size_t(c.channels); }
constexpr size_t state_floats(const ConvolutionCase& c) { return attend::core::conv_state_floats(c.channels, c.width); }
constexpr size_t digest_bytes(const ConvolutionCase& c) {
  return sizeof(float) * (2 * rows_floats(c) + size_t(c.channels) * size_t(c.width + 1) + state_floats(c));
}

struct ConvolutionData {
  float *input, *output, *weights, *bias, *state;
};
inline ConvolutionData convolution_data(const ConvolutionCase& c, float* memory) {
  const auto take = [&memory](size_t count) { return take_next<float>(memory, count); };
  return {take(rows_floats(c)), take(rows_floats(c)), take(size_t(c.channels) * size_t(c.width)), take(size_t(c.channels)),
          take(state_floats(c))};
}
inline void draw_convolution(const ConvolutionCase& c, const ConvolutionData& d, uint64_t seed) {
  Random random(seed);
  random.fill(d.input, rows_floats(c), 2.0f), random.fill(d.weights, size_t(c.channels) * size_t(c.width));
  random.fill(d.bias, size_t(c.channels));
}

inline attend::core::Convolution convolution_call(const ConvolutionCase& c, const ConvolutionData& d, int first, int end) {
  attend::core::Convolution call{};
  call.input = d.input + first * c.channels, call.output = d.output + first * c.channels;
  call.weights = d.weights, call.bias = c.bias ? d.bias : nullptr, call.state = d.state;
  call.input_stride = call.output_stride = call.channels = c.channels, call.width = c.width, call.tokens = end - first;
  return call;
}
inline void run_convolution_case(const ConvolutionCase& c, const attend::core::Convolution& call, int part = 0, int parts = 1) {
  if (c.activation == ConvActivation::silu) return attend::core::run_convolution<ConvActivation::silu>(call, part, parts);
  attend::core::run_convolution<ConvActivation::identity>(call, part, parts);
}

// Calls of so many tokens, in parts; or, with `drafts`, each of them first from a state that stays, with two tokens more, and
// then again without outputs.
template <class Case, class Data>
void run_convolution_way(const Case& c, const Data& d, int tokens, int parts, bool drafts) {
  for (size_t i = 0; i < state_floats(c); ++i) d.state[i] = 0;
  for (int first = 0; first < c.tokens; first += tokens) {
    const int end = c.tokens - first < tokens ? c.tokens : first + tokens;
    auto call = convolution_call(c, d, first, drafts && end + 2 < c.tokens ? end + 2 : end);
    if (drafts) call.state = nullptr, call.from = first == 0 ? nullptr : d.state;
    for (int part = parts; part-- > 0;) run_convolution_case(c, call, part, parts);
    if (!drafts) continue;
    call = convolution_call(c, d, first, end);
    call.output = nullptr;
    run_convolution_case(c, call);
  }
}

inline uint64_t compute_digest(const ConvolutionCase& c, void* memory) {
  const ConvolutionData d = convolution_data(c, static_cast<float*>(memory));
  draw_convolution(c, d, uint64_t(c.channels) * 1009u + uint64_t(c.width));
  const struct {
    int tokens, parts;
    bool drafts;
  } ways[] = {{c.tokens, 1, false}, {1, 1, false}, {c.tokens, 3, false}, {5, 2, true}};
  uint64_t first = 0;
  for (const auto& way : ways) {
    for (size_t i = 0; i < rows_floats(c); ++i) d.output[i] = 0.0f;
    run_convolution_way(c, d, way.tokens, way.parts, way.drafts);
    const uint64_t hash = hash_floats(hash_floats(hash_begin, d.output, rows_floats(c)), d.state, state_floats(c));
    if (&way == ways) first = hash;
    if (hash != first) return ~first;
  }
  return first;
}

}  // namespace attend_test
