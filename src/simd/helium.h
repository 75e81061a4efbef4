// Helium (Armv8.1-M MVE with float): 4 lanes, 8 registers; a factor stays in a general register.
#pragma once

#include <arm_mve.h>
#include <stddef.h>
#include <stdint.h>

#include "../chains.h"
#include "../float_rules.h"

namespace attend {
namespace {

struct Helium {
  using Vec = float32x4_t;
  using Factor = float;  // one number that multiplies vectors
  static constexpr int lanes = 4;

  // 3 x 2 sums and 2 vectors fill the 8 registers.
  static constexpr int tile_rows = 3;
  static constexpr int columns(int /*rows*/, bool /*apart*/) { return 8; }
  static constexpr bool own_weights = false;  // weights of scores come from exp2.h
  static constexpr int weight_vecs = 1;       // whose weights are computed side by side

  static Vec zero() { return vdupq_n_f32(0.0f); }
  static Vec broadcast(float a) { return vdupq_n_f32(a); }
  static Factor factor(float a) { return a; }
  static Vec load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Vec a) { vst1q_f32(to, a); }
  static Vec load_first(const float* from, int count) { return vld1q_z_f32(from, vctp32q(uint32_t(count))); }
  static void store_first(float* to, Vec a, int count) { vst1q_p_f32(to, a, vctp32q(uint32_t(count))); }

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

  static void chains(const Chains& c) {
    if (c.rows == 1) {
      if (c.b_stride == 1) {
        tile<1, false>(c);
      } else {
        tile<1, true>(c);
      }
    } else if (c.b_stride == 1) {
      tile<tile_rows, false>(c);
    } else {
      tile<tile_rows, true>(c);
    }
  }

 private:
  template <int rows, bool apart>
  static void tile(const Chains& c) {
    const int count = c.columns;
    const mve_pred16_t first = vctp32q(uint32_t(count)), second = vctp32q(uint32_t(count < 4 ? 0 : count - 4));
    const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), uint32_t(c.b_stride));
    Vec sums[rows][2];
    for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = zero();
    const float *a = c.a, *b = c.b;
    for (int step = 0; step < c.steps; ++step) {
      Vec columns[2];
      if constexpr (apart) {
        columns[0] = vldrwq_gather_shifted_offset_z_f32(b, offsets, first);
        columns[1] = vldrwq_gather_shifted_offset_z_f32(b + 4 * c.b_stride, offsets, second);
      } else {
        columns[0] = vld1q_z_f32(b, first);
        columns[1] = vld1q_z_f32(b + 4, second);
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        const float factor = rows == 1 ? a[step] * c.a_scale : a[r * c.a_stride + step];
        sums[r][0] = vfmaq_n_f32(sums[r][0], columns[0], factor);
        sums[r][1] = vfmaq_n_f32(sums[r][1], columns[1], factor);
      }
      b += c.b_step;
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      float* to = c.to[r] + c.column;
      if (c.adds) {
        sums[r][0] = add(sums[r][0], vld1q_z_f32(to, first));
        sums[r][1] = add(sums[r][1], vld1q_z_f32(to + 4, second));
      }
      vst1q_p_f32(to, sums[r][0], first);
      vst1q_p_f32(to + 4, sums[r][1], second);
    }
  }
};

}  // namespace
}  // namespace attend
