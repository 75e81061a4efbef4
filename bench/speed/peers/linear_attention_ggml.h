// Linear attention by ggml, timed beside ours.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace bench {

// All arrays are [token][head][numbers] without gaps, at multiples of 64 bytes. Scale is 1 / sqrt(head_dim), or 1 with a.
struct LinearAttentionProblem {
  const float *query, *key, *value;
  const float* gates;  // [token][value head]; with a, what is multiplied with it, behind a softplus
  const float* beta;   // [token][value head], unless there is a
  const float* a;      // null: gated delta. Otherwise Mamba-2: [value head]
  const float* state;  // that it begins with, head_dim * value_dim numbers of each value head
  float* output;       // [token][value head][value_dim], and the state behind it
  int key_heads, value_heads, head_dim, value_dim, tokens;
};

// A causal convolution. ggml's operator reads inputs by channels, those before the first token in front: as they lie,
// or turned, joined and the last ones kept within the call, as in llama.cpp.
struct ConvolutionProblem {
  const float* inputs;   // [channel][width - 1 + tokens]; with a state [token][channel]
  const float* weights;  // [channel][width]
  float* state;          // null, or [channel][width - 1]
  float* output;         // [token][channel]
  int channels, width, tokens;
  bool silu;
};

// What computes it once, by the library for AVX2 or for AVX-512; null where there is none.
std::function<void()> linear_attention_by_ggml(const LinearAttentionProblem& problem, bool wide);
std::function<void()> convolution_by_ggml(const ConvolutionProblem& problem, bool wide);

}  // namespace bench
