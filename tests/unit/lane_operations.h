// What an instruction set has of its own around tiles whose factors are used by lane: the ends of chains, and weights of a row.
#pragma once

#include "../../include/attend/core/config.h"
#include "../support/tested.h"

#include "operation_numbers.h"

namespace {

// Chains of zeros and of other numbers; nothing behind the sixteen is written.
template <class Isa>
bool stores_chains(float* end) {
  float before[16], *const to = end - 16;
  typename Isa::Vec sums[4];
  float of[16];
  bool right = true;
  for (int first = 0; first < test_count; ++first) {
    for (int i = 0; i < 16; ++i) {
      before[i] = test_numbers[(first + 3 * i) % test_count];
      of[i] = test_numbers[(first + i) % test_count];
      to[i] = before[i];
    }
    for (int v = 0; v < 4; ++v) sums[v] = Isa::load(of + 4 * v);
    Isa::add_four(sums, to);
    for (int i = 0; i < 16; ++i) right = right && are_same(to[i], before[i] + of[i]);
    Isa::store_four(sums, to);
    for (int i = 0; i < 16; ++i) {
      right = right && are_same(to[i], of[i]) && attend::bits_to<uint32_t>(to[i]) != attend::bits_to<uint32_t>(-0.0f);
    }
  }
  return right;
}

// Score i of 48 relative to a row's maximum: its surroundings, where the last weights are, far below, and no numbers.
inline float test_score(int i, int max) {
  constexpr float relative[] = {0.0f,    -0.5f,   0.5f,    2.0f,    -0.3f,          1.49f,    -1.5f,
                                -124.4f, -124.5f, -124.6f, -125.4f, -125.5f,        -125.6f,  -126.0f,
                                -127.0f, -200.0f, -3e6f,   -1e7f,   -test_infinity, test_nan, -1.25f};
  constexpr int count = int(sizeof relative / sizeof relative[0]);
  return i % count == 17 ? -1e30f : i % count == 16 && i > count ? -0x1.8p23f - float(i) : float(max) + relative[i % count];
}

// Each vector of rows whose last one ends where memory does.
template <class Isa>
bool finds_highest_of_rows(float* end) {
  using Vec = typename Isa::Vec;
  constexpr int rows = Isa::tile_rows, lanes = Isa::lanes, stride = 85;
  bool right = true;
  for (int count = 16; count <= 80; count += 16) {
    float* const scores = end - (rows - 1) * stride - count;
    for (int place = 0; place < count; ++place) {  // of the highest score of each row, another in each
      Vec highest[rows], expected[rows];
      for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < count; ++i) scores[r * stride + i] = test_score((i + r) % 48, -7);
        scores[r * stride + (place + 5 * r) % count] = float(r + 1);
        highest[r] = expected[r] = Isa::broadcast(float(r % 3) - 8.0f);
        for (int k = 0; k < count; k += lanes) expected[r] = Isa::higher(expected[r], Isa::load(scores + r * stride + k));
      }
      Isa::template highest_of_rows<Isa>(scores, stride, count, highest);
      for (int r = 0; r < rows; ++r) {
        float got[lanes], want[lanes];
        Isa::store(got, highest[r]);
        Isa::store(want, expected[r]);
        for (int i = 0; i < lanes; ++i) right = right && are_same(got[i], want[i]);
      }
    }
  }
  return right;
}

// Against the polynomial and scale_by_low_bits, a vector at a time.
template <class Isa>
bool weighs(float* end) {
  using attend::bits_to;
  using Vec = typename Isa::Vec;
  constexpr int count = 48, lanes = Isa::lanes;
  const Vec shift = Isa::broadcast(attend::whole_shift);
  bool right = true;
  for (const int max : {0, 1, -7, 2000000, -2000000}) {
    for (const bool begun : {false, true}) {
      float scores[count], sums[16], expected_sums[16], expected[count];
      const float lowest = attend::whole_shift + float(max - 125);
      const Vec bias = Isa::broadcast(bits_to<float>(uint32_t(127 - max) << 23));
      for (int i = 0; i < 16; ++i) sums[i] = expected_sums[i] = begun ? float(i) : test_nan;
      for (int i = 0; i < count; ++i) scores[i] = end[i - count] = test_score(i, max);
      for (int k = 0; k < count; k += lanes) {
        const Vec score = Isa::load(scores + k), shifted = Isa::add(score, shift);
        Vec weight[1] = {Isa::sub(score, Isa::sub(shifted, shift))};
        attend::exp2_fraction<Isa, 1>(weight);
        weight[0] = Isa::scale_by_low_bits(weight[0], shifted, bias, Isa::broadcast(lowest));
        Isa::store(expected + k, weight[0]);
        float* const sum = expected_sums + k % 16;
        Isa::store(sum, begun || k >= 16 ? Isa::add(Isa::load(sum), weight[0]) : weight[0]);
      }
      Isa::weights_of_panels(end - count, count, lowest, begun, sums);
      for (int i = 0; i < count; ++i) right = right && are_same(end[i - count], expected[i]);
      for (int i = 0; i < 16; ++i) right = right && are_same(sums[i], expected_sums[i]);
      // The weights of a first panel are the sums, and what lies behind them stays.
      Isa::weights_of_panels(scores, 16, lowest, false, scores);
      for (int i = 0; i < count; ++i) right = right && are_same(scores[i], i < 16 ? expected[i] : test_score(i, max));
    }
  }
  return right;
}

}  // namespace
