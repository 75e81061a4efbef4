// Floats as 8-bit numbers: real = scale * (number - zero). The same numbers on every machine: a product, a comparison and a
// sum, none of which a compiler may join.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace app {

// The nearest number, ties away from the zero point; what lies outside of 8 bits is clamped. per_step: 1 / scale.
inline std::int8_t quantised(float real, float per_step, int zero = 0) {
  const float steps = std::max(-256.0f, std::min(real * per_step, 256.0f));
  const int number = int(steps + (steps < 0 ? -0.5f : 0.5f)) + zero;
  return static_cast<std::int8_t>(std::max(-128, std::min(number, 127)));
}

inline void quantise(const float* reals, int count, float scale, std::int8_t* numbers, int zero = 0) {
  const float per_step = 1.0f / scale;
  for (int i = 0; i < count; ++i) numbers[i] = quantised(reals[i], per_step, zero);
}

inline float largest_size(const float* reals, int count) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, reals[i] < 0 ? -reals[i] : reals[i]);
  return largest;
}

// The scale with which a size just fits into 8 bits, the same on both sides of zero.
inline float scale_of(float largest) { return largest > 0 ? largest * (1.0f / 127) : 1.0f; }

// Quantises with a scale of these numbers alone, and returns it.
inline float quantise_by_largest(const float* reals, int count, std::int8_t* numbers) {
  const float scale = scale_of(largest_size(reals, count));
  quantise(reals, count, scale, numbers);
  return scale;
}

// The size that a share of the numbers, 0 … 1, does not exceed. Few numbers far outside then cost all others less.
inline float percentile_size(std::vector<float> sizes, double share) {
  if (sizes.empty()) return 0;
  const auto place = sizes.begin() + std::ptrdiff_t(share * double(sizes.size() - 1));
  std::nth_element(sizes.begin(), place, sizes.end());
  return *place;
}

// The mean square of what 8 bits lose; its root is the RMS error.
inline double mean_square_error(const float* reals, const std::int8_t* numbers, int count, float scale, int zero = 0) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double error = double(reals[i]) - double(scale) * (numbers[i] - zero);
    sum += error * error;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace app
