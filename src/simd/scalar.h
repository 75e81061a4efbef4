// The vocabulary of an instruction set, in plain C++ with vectors of one lane: the reference for all others.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../fma.h"

namespace attend {
namespace {

struct Scalar {
  using Vec = float;
  using Factor = Vec;  // one number that multiplies vectors
  static constexpr int lanes = 1;

  // Tiles: rows by vectors of running sums.
  static constexpr int tile_rows = 4;
  static constexpr int score_vecs(int /*rows*/) { return 4; }
  static constexpr int value_vecs(int /*rows*/) { return 4; }
  static constexpr bool tiles_of_any_row_count = false;  // leftover rows go one by one: less code
  static constexpr int weight_vecs = 2;                  // whose weights are computed side by side

  static Vec zero() { return 0.0f; }
  static Vec broadcast(float a) { return a; }
  static Factor factor(float a) { return broadcast(a); }
  static Vec load(const float* from) { return *from; }
  static void store(float* to, Vec a) { *to = a; }
  static Vec load_first(const float* from, int /*count*/) { return *from; }
  static void store_first(float* to, Vec a, int /*count*/) { *to = a; }

  static void transpose(const float* from, ptrdiff_t /*from_stride*/, float* to, ptrdiff_t /*to_stride*/) { *to = *from; }

  static Vec add(Vec a, Vec b) { return a + b; }
  static Vec sub(Vec a, Vec b) { return a - b; }
  static Vec mul(Vec a, Vec b) { return a * b; }
  static Vec fma(Vec a, Vec b, Vec c) { return fused_multiply_add(a, b, c); }
  static Vec max(Vec a, Vec b) { return a < b ? b : a; }  // a where b is NaN
  static float highest_lane(Vec a) { return a; }

  // a * 2^n for whole n <= 0, and zero where n < -125, so that the power is an ordinary number. A NaN a stays NaN.
  static Vec scale_by_power(Vec a, Vec n) {
    if (n < -125.0f) return 0.0f;
    const int32_t exponent = n <= 0.0f ? int32_t(n) : 0;  // n may be NaN, and then so is a
    return a * bits_to<float>(uint32_t(exponent + 127) << 23);
  }

  // a * 2^(k + bias - 127) for the whole number k in the low bits of n, and zero where n < lowest. A NaN a stays NaN.
  static Vec scale_by_low_bits(Vec a, Vec n, int bias, Vec lowest) {
    if (n < lowest) return 0.0f;
    return a * bits_to<float>((bits_to<uint32_t>(n) + uint32_t(bias)) << 23);
  }
};

}  // namespace
}  // namespace attend
