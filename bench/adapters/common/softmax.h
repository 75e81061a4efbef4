// Softmax of rows. Sums begin with the first number whose weight is not 0, so that numbers that are masked by -infinity, or by
// others that are small enough, change no bit in front of the rest nor behind it.
#pragma once

#include <attend/layers/core_layer.h>

namespace attend_adapter {

constexpr int softmax_lanes = 16;

inline float largest_of(const float* x, int count) {
  float most[softmax_lanes];
  for (float& lane : most) lane = x[0];
  int i = 0;
  for (; i + softmax_lanes <= count; i += softmax_lanes) {
    for (int lane = 0; lane < softmax_lanes; ++lane) most[lane] = x[i + lane] > most[lane] ? x[i + lane] : most[lane];
  }
  for (; i < count; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
  float largest = most[0];
  for (const float lane : most) largest = lane > largest ? lane : largest;
  return largest;
}

inline float softmax_sum(const float* x, int count) {
  float sums[softmax_lanes] = {};
  int i = 0;
  for (; i + softmax_lanes <= count; i += softmax_lanes) {
    for (int lane = 0; lane < softmax_lanes; ++lane) sums[lane] += x[i + lane];
  }
  for (int lane = 0; i < count; ++i, ++lane) sums[lane] += x[i];
  for (int half = softmax_lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

// to may be from. count: at least 1. A row of nothing but -infinity becomes NaN, as one with a NaN or infinity does.
inline void softmax_row(const float* from, int count, float* to) {
  const float most = largest_of(from, count);
  for (int i = 0; i < count; ++i) to[i] = from[i] - most;
  attend::core::activate<attend::Activation::exp>(to, nullptr, count, to);
  int first = 0;
  while (first < count && to[first] == 0) ++first;
  attend::core::scale(1 / softmax_sum(to + first, count - first), count, to);
}

}  // namespace attend_adapter
