// Attention as the arithmetic defines it, one row and one number at a time, with the C library's own fma, nearbyint, ceil and
// ldexp: what every backend must equal bit for bit. It shares no code with the library.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace attend_test {

inline float defined_exp2(float fraction) {
  float g = 0x1.3fa208p-13f;
  for (const float c : {0x1.5f0b82p-10f, 0x1.3b30a0p-7f, 0x1.c6af76p-5f, 0x1.ebfbd8p-3f, 0x1.62e430p-1f, 1.0f}) {
    g = std::fma(g, fraction, c);
  }
  return g;
}

// The weight of a score in base 2 relative to the whole number max.
inline float defined_weight(float score, float max) {
  const float whole = std::nearbyint(score);
  if (whole - max < -125.0f) return 0.0f;
  const float digits = defined_exp2(score - whole);
  return std::isnan(whole - max) ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(digits, int(whole - max));
}

// One output row over the `visible` first keys. Rows of keys and values lie key_stride and value_stride floats apart.
inline std::vector<float> defined_row(const float* query, const float* keys, long key_stride, const float* values,
                                      long value_stride, int visible, int head_dim, int value_dim, float scale) {
  const float c = float(double(scale) * 1.4426950408889634073599);  // scale * log2(e), rounded once
  std::vector<float> scores, output(std::size_t(value_dim), 0.0f);
  float max = -std::numeric_limits<float>::max();
  for (int j = 0; j < visible; ++j) {
    float score = 0.0f;
    for (int first = 0; first < head_dim; first += 16) {
      float chain = 0.0f;
      for (int d = first; d < head_dim && d < first + 16; ++d) chain = std::fma(query[d] * c, keys[j * key_stride + d], chain);
      score += chain;
    }
    scores.push_back(score);
    if (std::ceil(score) > max) max = std::ceil(score);
  }
  if (max == -std::numeric_limits<float>::max()) max = 0.0f;  // no score above the lowest float: all weights are 0
  float sum = 0.0f;
  for (int segment = 0; segment < visible; segment += 512) {
    float lanes[16] = {};
    std::vector<float> part(std::size_t(value_dim), 0.0f);
    for (int first = segment; first < visible && first < segment + 512; first += 64) {
      std::vector<float> chain(std::size_t(value_dim), 0.0f);
      for (int j = first; j < visible && j < first + 64; ++j) {
        const float weight = defined_weight(scores[std::size_t(j)], max);
        lanes[j % 16] += weight;
        for (int k = 0; k < value_dim; ++k) {
          chain[std::size_t(k)] = std::fma(weight, values[j * value_stride + k], chain[std::size_t(k)]);
        }
      }
      for (int k = 0; k < value_dim; ++k) part[std::size_t(k)] += chain[std::size_t(k)];
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    sum += lanes[0];
    for (int k = 0; k < value_dim; ++k) output[std::size_t(k)] += part[std::size_t(k)];
  }
  const float inverse = 1.0f / sum;
  for (float& o : output) o = sum == 0.0f ? 0.0f : o * inverse;
  return output;
}

}  // namespace attend_test
