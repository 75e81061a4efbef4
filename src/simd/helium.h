// Helium (Armv8.1-M MVE with float): 4 lanes, 8 registers; a factor stays in a general register.
#pragma once

#include <arm_mve.h>
#include <stddef.h>
#include <stdint.h>

namespace attend {
namespace {

struct Helium {
  using Vec = float32x4_t;
  using Factor = float;  // one number that multiplies vectors
  static constexpr int lanes = 4;

  // Tiles: 3 x 2 sums and 2 vectors fill the 8 registers.
  static constexpr int tile_rows = 3;
  static constexpr int score_vecs(int rows) { return rows == 1 ? 4 : 2; }
  static constexpr int value_vecs(int rows) { return rows == 1 ? 4 : 2; }
  static constexpr bool tiles_of_any_row_count = false;  // leftover rows go one by one: less code
  static constexpr int weight_vecs = 1;

  static Vec zero() { return vdupq_n_f32(0.0f); }
  static Vec broadcast(float a) { return vdupq_n_f32(a); }
  static Factor factor(float a) { return a; }
  static Vec load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Vec a) { vst1q_f32(to, a); }
  static Vec load_first(const float* from, int count) { return vld1q_z_f32(from, vctp32q(uint32_t(count))); }
  static void store_first(float* to, Vec a, int count) { vst1q_p_f32(to, a, vctp32q(uint32_t(count))); }

  // to[i][j] = from[j][i] for 4 x 4 floats.
  static void transpose(const float* from, ptrdiff_t from_stride, float* to, ptrdiff_t to_stride) {
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 4; ++column) to[column * to_stride + row] = from[row * from_stride + column];
    }
  }

  static Vec add(Vec a, Vec b) { return vaddq_f32(a, b); }
  static Vec sub(Vec a, Vec b) { return vsubq_f32(a, b); }
  static Vec mul(Vec a, Vec b) { return vmulq_f32(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
  static Vec fma(Factor a, Vec b, Vec c) { return vfmaq_n_f32(c, b, a); }
  static Vec max(Vec a, Vec b) { return vmaxnmq_f32(a, b); }  // the number where one is NaN
  static float highest_lane(Vec a) { return vmaxnmvq_f32(vgetq_lane_f32(a, 0), a); }

  static Vec scale_by_power(Vec a, Vec n) {
    const int32x4_t exponent = vaddq_n_s32(vcvtq_s32_f32(n), 127);
    const Vec scaled = vmulq_f32(a, vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23)));
    return vpselq_f32(zero(), scaled, vcmpltq_n_f32(n, -125.0f));  // false for NaN
  }

  // a * 2^(k + bias - 127) for the whole number k in the low bits of n, and zero where n < lowest. A NaN a stays NaN.
  static Vec scale_by_low_bits(Vec a, Vec n, int bias, Vec lowest) {
    const uint32x4_t exponent = vaddq_n_u32(vreinterpretq_u32_f32(n), uint32_t(bias));
    const Vec scaled = vmulq_f32(a, vreinterpretq_f32_u32(vshlq_n_u32(exponent, 23)));
    return vpselq_f32(zero(), scaled, vcmpltq_f32(n, lowest));
  }
};

}  // namespace
}  // namespace attend
