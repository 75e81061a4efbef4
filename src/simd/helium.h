// Helium (Armv8.1-M MVE with float): 4 lanes, 8 registers; a factor stays in a general register.
#pragma once

#include <arm_mve.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/config.h"
#include "../chains.h"
#include "../float_rules.h"
#include "../pack.h"

namespace attend {
namespace {

struct Helium {
  using Vec = float32x4_t;
  using Factor = float;  // one number that multiplies vectors
  static constexpr int lanes = 4;

  static constexpr int tile_rows = 4;
  static constexpr int columns(int rows) { return rows == 1 ? 8 : 16; }
  static constexpr bool own_weights = true;
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
      row(c);
    } else {
      tile(c);
    }
  }

  // Replaces `count` scores, whole panels of them, by their weights as softmax.h defines them, and adds these to the 16 sums:
  // 4 sums at a time, over all panels. Coefficients are in general registers, where a step of the polynomial takes them from.
  ATTEND_CODE __attribute__((noinline)) static void weigh_scores(float* scores, int count, float max, const float* coefficients,
                                                                 float* lane_sums) {
    const float shift = 0x1.8p23f;
    const int bias = 127 - int(max);
    const float lowest = shift + (max - 125.0f);
    int panels = count / panel_keys, back = 16 - 4 * count;
    __asm__ volatile(
        "ldr r0, %[lowest]\n"
        "ldr r1, %[bias]\n"
        "ldr r2, %[shift]\n"
        "vdup.32 q4, r0\n"
        "vdup.32 q5, r1\n"
        "vdup.32 q6, r2\n"
        "ldr r0, [%[coefficients]], #4\n"
        "vdup.32 q7, r0\n"
        "ldm %[coefficients], {r0, r1, r2, r3, r4, r5}\n"
        "add %[coefficients], %[lane], #64\n"
        "1:\n"
        "dls lr, %[panels]\n"
        "vldrw.u32 q3, [%[lane]]\n"
        "2:\n"
        "vldrw.u32 q0, [%[scores]]\n"
        "vadd.f32 q1, q0, q6\n"
        "vsub.f32 q2, q1, q6\n"
        "vsub.f32 q0, q0, q2\n"
        "vmov q2, q7\n"
        "vfmas.f32 q2, q0, r0\n"
        "vfmas.f32 q2, q0, r1\n"
        "vfmas.f32 q2, q0, r2\n"
        "vfmas.f32 q2, q0, r3\n"
        "vfmas.f32 q2, q0, r4\n"
        "vfmas.f32 q2, q0, r5\n"
        "vadd.i32 q0, q1, q5\n"
        "vshl.i32 q0, q0, #23\n"
        "vmul.f32 q2, q2, q0\n"
        "vpt.f32 lt, q1, q4\n"
        "vmovt.i32 q2, #0\n"
        "vadd.f32 q3, q3, q2\n"
        "vstrw.32 q2, [%[scores]], #64\n"
        "le lr, 2b\n"
        "vstrw.32 q3, [%[lane]], #16\n"
        "add %[scores], %[scores], %[back]\n"
        "cmp %[lane], %[coefficients]\n"
        "bne 1b\n"
        : [scores] "+r"(scores), [lane] "+r"(lane_sums), [coefficients] "+r"(coefficients)
        : [panels] "r"(panels), [back] "r"(back), [lowest] "m"(lowest), [bias] "m"(bias), [shift] "m"(shift)
        : "r0", "r1", "r2", "r3", "r4", "r5", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }

 private:
  struct Tile {
    const float* a[tile_rows];
    float* to[tile_rows];
    const float* b;
    ptrdiff_t step, stride;  // of b, in bytes
    int panel_fours, together_fours, apart_fours, ones;
    int columns;
    int adds;
  };

  ATTEND_CODE __attribute__((noinline)) static void tile(const Chains& c) {
    Tile t;
    for (int r = 0; r < tile_rows; ++r) {
      t.a[r] = c.a + r * c.a_stride;
      t.to[r] = c.to[r] + c.column;
    }
    t.b = c.b;
    t.step = 4 * c.b_step;
    t.stride = 4 * c.b_stride;
    t.panel_fours = t.together_fours = t.apart_fours = 0;
    const bool apart = c.b_stride != 1;
    (apart ? t.apart_fours : c.b_step == panel_keys ? t.panel_fours : t.together_fours) = c.steps / 4;
    t.ones = c.steps % 4;
    t.adds = c.adds;
    for (t.columns = at_most(c.columns, columns(tile_rows)); t.columns > 0; t.columns -= 4) {
      if (t.columns < 4 && !apart) {
        t.panel_fours = t.together_fours = 0;
        t.ones = c.steps;
      }
      four_columns(&t);
      t.b += 4 * c.b_stride;
    }
  }

  static void four_columns(Tile* t) {
    const float* b = t->b;
    ptrdiff_t step = t->step, count;
    __asm__ volatile(
        "ldm %[t], {r0, r1, r2, r3}\n"
        "vmov.i32 q0, #0\n"
        "vmov.i32 q1, #0\n"
        "ldr %[count], [%[t], %[panel_fours]]\n"
        "vmov.i32 q2, #0\n"
        "vmov.i32 q3, #0\n"
        "wls lr, %[count], 2f\n"
        "1:\n"
        "ldm r0!, {r4, r5, r6, r8}\n"
        "vldrw.u32 q4, [%[b]], #64\n"
        "vldrw.u32 q5, [%[b]], #64\n"
        "vfma.f32 q0, q4, r4\n"
        "vldrw.u32 q6, [%[b]], #64\n"
        "vfma.f32 q0, q5, r5\n"
        "vldrw.u32 q7, [%[b]], #64\n"
        "vfma.f32 q0, q6, r6\n"
        "vfma.f32 q0, q7, r8\n"
        "ldm r1!, {r4, r5, r6, r8}\n"
        "vfma.f32 q1, q4, r4\n"
        "vfma.f32 q1, q5, r5\n"
        "vfma.f32 q1, q6, r6\n"
        "vfma.f32 q1, q7, r8\n"
        "ldm r2!, {r4, r5, r6, r8}\n"
        "vfma.f32 q2, q4, r4\n"
        "vfma.f32 q2, q5, r5\n"
        "vfma.f32 q2, q6, r6\n"
        "vfma.f32 q2, q7, r8\n"
        "ldm r3!, {r4, r5, r6, r8}\n"
        "vfma.f32 q3, q4, r4\n"
        "vfma.f32 q3, q5, r5\n"
        "vfma.f32 q3, q6, r6\n"
        "vfma.f32 q3, q7, r8\n"
        "le lr, 1b\n"
        "2:\n"
        "ldr %[count], [%[t], %[together_fours]]\n"
        "wls lr, %[count], 4f\n"
        "3:\n"
        "ldm r0!, {r4, r5, r6, r8}\n"
        "vldrw.u32 q4, [%[b]]\n"
        "add %[b], %[b], %[step]\n"
        "vfma.f32 q0, q4, r4\n"
        "vldrw.u32 q5, [%[b]]\n"
        "add %[b], %[b], %[step]\n"
        "vfma.f32 q0, q5, r5\n"
        "vldrw.u32 q6, [%[b]]\n"
        "add %[b], %[b], %[step]\n"
        "vfma.f32 q0, q6, r6\n"
        "vldrw.u32 q7, [%[b]]\n"
        "add %[b], %[b], %[step]\n"
        "vfma.f32 q0, q7, r8\n"
        "ldm r1!, {r4, r5, r6, r8}\n"
        "vfma.f32 q1, q4, r4\n"
        "vfma.f32 q1, q5, r5\n"
        "vfma.f32 q1, q6, r6\n"
        "vfma.f32 q1, q7, r8\n"
        "ldm r2!, {r4, r5, r6, r8}\n"
        "vfma.f32 q2, q4, r4\n"
        "vfma.f32 q2, q5, r5\n"
        "vfma.f32 q2, q6, r6\n"
        "vfma.f32 q2, q7, r8\n"
        "ldm r3!, {r4, r5, r6, r8}\n"
        "vfma.f32 q3, q4, r4\n"
        "vfma.f32 q3, q5, r5\n"
        "vfma.f32 q3, q6, r6\n"
        "vfma.f32 q3, q7, r8\n"
        "le lr, 3b\n"
        "4:\n"
        "ldrd %[count], r5, [%[t], %[apart_fours]]\n"
        "orrs r4, %[count], r5\n"
        "beq 8f\n"
        // q7: where each column's next step lies, and one step before. A column that does not exist is the last one that does.
        "movs r4, #0\n"
        "vidup.u32 q7, r4, #1\n"
        "ldr r4, [%[t], %[columns]]\n"
        "subs r4, r4, #1\n"
        "vdup.32 q6, r4\n"
        "vmin.u32 q7, q7, q6\n"
        "ldr r4, [%[t], %[stride]]\n"
        "vmul.i32 q7, q7, r4\n"
        "sub %[b], %[b], %[step]\n"
        "vadd.i32 q7, q7, %[b]\n"
        "wls lr, %[count], 6f\n"
        "5:\n"
        "vldrw.u32 q4, [q7, #4]\n"
        "ldrd r4, r5, [r0], #8\n"
        "vfma.f32 q0, q4, r4\n"
        "vldrw.u32 q5, [q7, #8]!\n"
        "vfma.f32 q0, q5, r5\n"
        "ldrd r4, r5, [r1], #8\n"
        "vfma.f32 q1, q4, r4\n"
        "vfma.f32 q1, q5, r5\n"
        "ldrd r4, r5, [r2], #8\n"
        "vfma.f32 q2, q4, r4\n"
        "vfma.f32 q2, q5, r5\n"
        "ldrd r4, r5, [r3], #8\n"
        "vfma.f32 q3, q4, r4\n"
        "vfma.f32 q3, q5, r5\n"
        "vldrw.u32 q4, [q7, #4]\n"
        "ldrd r4, r5, [r0], #8\n"
        "vfma.f32 q0, q4, r4\n"
        "vldrw.u32 q5, [q7, #8]!\n"
        "vfma.f32 q0, q5, r5\n"
        "ldrd r4, r5, [r1], #8\n"
        "vfma.f32 q1, q4, r4\n"
        "vfma.f32 q1, q5, r5\n"
        "ldrd r4, r5, [r2], #8\n"
        "vfma.f32 q2, q4, r4\n"
        "vfma.f32 q2, q5, r5\n"
        "ldrd r4, r5, [r3], #8\n"
        "vfma.f32 q3, q4, r4\n"
        "vfma.f32 q3, q5, r5\n"
        "le lr, 5b\n"
        "6:\n"
        "ldr %[count], [%[t], %[ones]]\n"
        "wls lr, %[count], 8f\n"
        "7:\n"
        "vadd.i32 q7, q7, %[step]\n"
        "vldrw.u32 q4, [q7]\n"
        "ldr r4, [r0], #4\n"
        "ldr r5, [r1], #4\n"
        "vfma.f32 q0, q4, r4\n"
        "ldr r6, [r2], #4\n"
        "vfma.f32 q1, q4, r5\n"
        "ldr r8, [r3], #4\n"
        "vfma.f32 q2, q4, r6\n"
        "vfma.f32 q3, q4, r8\n"
        "le lr, 7b\n"
        "8:\n"
        "add %[b], %[t], #16\n"
        "ldm %[b], {r0, r1, r2, r3}\n"
        "ldrd r4, r5, [%[t], %[columns]]\n"
        "vctp.32 r4\n"
        "cbz r5, 9f\n"
        "vpstttt\n"
        "vldrwt.u32 q4, [r0]\n"
        "vldrwt.u32 q5, [r1]\n"
        "vldrwt.u32 q6, [r2]\n"
        "vldrwt.u32 q7, [r3]\n"
        "vadd.f32 q0, q0, q4\n"
        "vadd.f32 q1, q1, q5\n"
        "vadd.f32 q2, q2, q6\n"
        "vadd.f32 q3, q3, q7\n"
        "9:\n"
        "vpstttt\n"
        "vstrwt.32 q0, [r0], #16\n"
        "vstrwt.32 q1, [r1], #16\n"
        "vstrwt.32 q2, [r2], #16\n"
        "vstrwt.32 q3, [r3], #16\n"
        "stm %[b], {r0, r1, r2, r3}\n"
        : [b] "+&r"(b), [count] "=&r"(count)
        : [t] "r"(t), [step] "r"(step), [panel_fours] "i"(offsetof(Tile, panel_fours)),
          [together_fours] "i"(offsetof(Tile, together_fours)), [apart_fours] "i"(offsetof(Tile, apart_fours)),
          [ones] "i"(offsetof(Tile, ones)), [columns] "i"(offsetof(Tile, columns)), [stride] "i"(offsetof(Tile, stride))
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }

  static void row(const Chains& c) {
    if (c.b_stride == 1) {
      narrow<1, false>(c);
    } else {
      narrow<1, true>(c);
    }
  }

  template <int rows, bool apart>
  static void narrow(const Chains& c) {
    const int count = c.columns < 8 ? c.columns : 8;
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
