// Numbers of two bytes or one with Helium: chains of fused multiply-adds over them, and widening. A load widens integers; an
// instruction more makes them floats.
#pragma once

#include <arm_mve.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "../numerics/formats.h"
#include "helium_chains.h"

namespace attend {
namespace {

struct HeliumTyped : HeliumChains {
  using HeliumChains::chains;

  // The first `count` of 4 numbers, as floats: nothing behind them is read.
  static float32x4_t load_first(const float* from, int count) { return vld1q_z_f32(from, first_lanes(count)); }
  static float32x4_t load_first(const Half* from, int count) {
    return vcvtbq_f32_f16(vreinterpretq_f16_u32(vldrhq_z_u32(&from->bits, first_lanes(count))));
  }
  static float32x4_t load_first(const Bfloat* from, int count) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vldrhq_z_u32(&from->bits, first_lanes(count)), 16));
  }
  static float32x4_t load_first(const int8_t* from, int count) { return vcvtq_f32_s32(vldrbq_z_s32(from, first_lanes(count))); }

  template <class Number>
  static void widen(const Number* from, int count, float* to) {
    for (; count > 0; count -= 4, from += 4, to += 4) vst1q_p_f32(to, load_first(from, count), first_lanes(count));
  }

  template <class Number>
  ATTEND_HOT static void chains(const ChainsOf<Number>& c) {
    rest(c);
  }

 private:
  static mve_pred16_t first_lanes(int count) { return vctp32q(uint32_t(count)); }

  // Any rows and columns, 4 columns at a time.
  template <class Number>
  ATTEND_NOINLINE static void rest(const ChainsOf<Number>& c) {
    const float scale = c.rows == 1 ? c.a_scale : 1.0f;
    for (int r = 0; r < c.rows; ++r) {
      for (int column = 0; column < c.columns; column += 4) {
        const int left = c.columns - column;
        const float* a = c.a + r * c.a_stride;
        const Number* b = c.b + column;
        float32x4_t sum = vdupq_n_f32(0.0f);
        for (int step = 0; step < c.steps; ++step) {
          sum = vfmaq_f32(sum, load_first(b, left), vmulq_n_f32(vdupq_n_f32(*a++), scale));
          b += c.b_step;
        }
        float* const to = c.to[r] + c.column + column;
        if (c.adds) sum = vaddq_f32(load_first(to, left), sum);
        vst1q_p_f32(to, sum, first_lanes(left));
      }
    }
  }
};

}  // namespace
}  // namespace attend
