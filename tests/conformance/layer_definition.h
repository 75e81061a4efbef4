// Normalisation and rotary positions as src/guide/arithmetic.md defines them, one number at a time, with the C library's own
// fma: what every backend must equal bit for bit. It shares no code with the library.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace attend_test {

inline float defined_sum(const std::vector<float>& terms) {
  float sums[16] = {};
  for (std::size_t i = 0; i < terms.size(); ++i) sums[i % 16] += terms[i];
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

inline float defined_sum_of_squares(const std::vector<float>& row) {
  float sums[16] = {};
  for (std::size_t i = 0; i < row.size(); ++i) sums[i % 16] = std::fma(row[i], row[i], sums[i % 16]);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

// Newton's iteration for 1 / sqrt(a), with the product's rounding taken into account.
inline float defined_reciprocal_root(float a) {
  if (std::isnan(a)) return a;
  if (std::isinf(a)) return 0.0f;
  std::uint32_t bits;
  std::memcpy(&bits, &a, sizeof bits);
  bits = 0x5f3759dfu - bits / 2;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  for (int step = 0; step < 4; ++step) {
    const float product = a * y, rest = std::fma(a, y, -product);
    y = std::fma(0.5f * y, std::fma(-rest, y, std::fma(-product, y, 1.0f)), y);
  }
  return y;
}

// weight and bias may be null.
inline std::vector<float> defined_rms_norm(const std::vector<float>& x, const float* weight, float epsilon) {
  const float mean = std::fma(defined_sum_of_squares(x), 1.0f / float(x.size()), epsilon);
  const float root = defined_reciprocal_root(mean);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const volatile float scaled = x[i] * root;
    y[i] = weight == nullptr ? scaled : scaled * weight[i];
  }
  return y;
}

inline std::vector<float> defined_layer_norm(const std::vector<float>& x, const float* weight, const float* bias,
                                             float epsilon) {
  const volatile float mean = defined_sum(x) * (1.0f / float(x.size()));
  std::vector<float> difference(x.size()), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - mean;
  const float root = defined_reciprocal_root(std::fma(defined_sum_of_squares(difference), 1.0f / float(x.size()), epsilon));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const volatile float scaled = difference[i] * root;
    if (weight == nullptr) {
      y[i] = bias == nullptr ? scaled : std::fma(difference[i], root, bias[i]);
    } else {
      y[i] = bias == nullptr ? scaled * weight[i] : std::fma(scaled, weight[i], bias[i]);
    }
  }
  return y;
}

// Turns the pair (a, b).
inline void defined_turn(float& a, float& b, float cosine, float sine) {
  const volatile float first = a * cosine, second = a * sine;
  a = std::fma(-sine, b, first);
  b = std::fma(cosine, b, second);
}

// The same bits, but for numbers that some targets flush to zero, and for what a NaN holds.
inline bool same_number(float a, float b) {
  if (std::fabs(a) < 0x1p-126f && std::fabs(b) < 0x1p-126f) return true;
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}
inline bool same_numbers(const std::vector<float>& a, const std::vector<float>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = same_number(a[i], b[i]);
  return same;
}

}  // namespace attend_test
