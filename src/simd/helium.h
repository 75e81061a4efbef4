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
  static constexpr int columns(int /*rows*/) { return 16; }
  static constexpr bool own_weights = true;
  static constexpr int weight_vecs = 1;  // whose weights are computed side by side

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
    float* to[tile_rows];  // the assembly is given the address of this
    int fours, kind;       // rounds of the loop of this kind, 4 steps each
    int adds;
    ptrdiff_t next;  // from where such a loop leaves b to the next 4 columns, in bytes
    int ones;        // steps left over
    ptrdiff_t stride;
  };
  static constexpr int panel = 0, together = 1, apart = 2;

  ATTEND_CODE __attribute__((noinline)) static void tile(const Chains& c) {
    Tile t;
    ATTEND_UNROLL
    for (int r = 0; r < tile_rows; ++r) {
      t.a[r] = c.a + r * c.a_stride;
      t.to[r] = c.to[r] + c.column;
    }
    ptrdiff_t step = 4 * c.b_step;
    t.stride = 4 * c.b_stride;
    t.adds = c.adds;
    t.fours = int(unsigned(c.steps) / 4);
    t.ones = c.steps & 3;
    t.kind = c.b_stride != 1 ? apart : c.b_step == panel_keys ? panel : together;
    t.next = t.kind == apart ? 4 * t.stride : 16 - 4 * t.fours * step;
    const int count = at_most(c.columns, columns(tile_rows));
    int rest = t.kind == apart ? 0 : count & 3, left = count - rest;
    float** const to = t.to;
    const float* b = c.b;
    for (;;) {
      if (left == 0) {  // columns that do not fill a vector, without reading what lies past them
        t.fours = 0;
        t.ones = c.steps;
        left = rest;
        rest = 0;
      }
      __asm__ volatile(
          "1:\n"
          "ldmdb %[t], {r0, r1, r2, r3}\n"
          "vmov.i32 q0, #0\n"
          "vmov.i32 q1, #0\n"
          "ldrd r4, r5, [%[t], %[fours]]\n"
          "vmov.i32 q2, #0\n"
          "vmov.i32 q3, #0\n"
          "cbnz r5, 3f\n"
          "wls lr, r4, 5f\n"
          "2:\n"
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
          "le lr, 2b\n"
          "b 5f\n"
          "3:\n"
          "cmp r5, %[apart]\n"
          "beq 6f\n"
          "wls lr, r4, 5f\n"
          "4:\n"
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
          "le lr, 4b\n"
          "5:\n"
          "ldr r6, [%[t], %[ones]]\n"
          "cmp r6, #0\n"
          "beq 10f\n"
          "movs r4, #0\n"
          "6:\n"
          // q7: one step before where the next one of each column lies. Columns that do not exist are the last one that does.
          "movs r6, #0\n"
          "vidup.u32 q7, r6, #1\n"
          "subs r6, %[columns], #1\n"
          "vdup.32 q6, r6\n"
          "ldr r6, [%[t], %[stride]]\n"
          "vmin.u32 q7, q7, q6\n"
          "vmul.i32 q7, q7, r6\n"
          "sub r6, %[b], %[step]\n"
          "vadd.i32 q7, q7, r6\n"
          "wls lr, r4, 8f\n"
          "7:\n"
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
          "le lr, 7b\n"
          "8:\n"
          "ldr r4, [%[t], %[ones]]\n"
          "wls lr, r4, 10f\n"
          "9:\n"
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
          "le lr, 9b\n"
          "10:\n"
          "ldm %[t], {r0, r1, r2, r3}\n"
          "ldrd r4, r5, [%[t], %[adds]]\n"
          "vctp.32 %[columns]\n"
          "cbz r4, 11f\n"
          "vpstttt\n"
          "vldrwt.u32 q4, [r0]\n"
          "vldrwt.u32 q5, [r1]\n"
          "vldrwt.u32 q6, [r2]\n"
          "vldrwt.u32 q7, [r3]\n"
          "vadd.f32 q0, q0, q4\n"
          "vadd.f32 q1, q1, q5\n"
          "vadd.f32 q2, q2, q6\n"
          "vadd.f32 q3, q3, q7\n"
          "11:\n"
          "vpstttt\n"
          "vstrwt.32 q0, [r0], #16\n"
          "vstrwt.32 q1, [r1], #16\n"
          "vstrwt.32 q2, [r2], #16\n"
          "vstrwt.32 q3, [r3], #16\n"
          "stm %[t], {r0, r1, r2, r3}\n"
          "add %[b], %[b], r5\n"
          "subs %[columns], %[columns], #4\n"
          "bgt 1b\n"
          : [b] "+r"(b), [columns] "+r"(left)
          : [t] "r"(to), [step] "r"(step), [fours] "i"(offsetof(Tile, fours) - offsetof(Tile, to)),
            [adds] "i"(offsetof(Tile, adds) - offsetof(Tile, to)), [ones] "i"(offsetof(Tile, ones) - offsetof(Tile, to)),
            [stride] "i"(offsetof(Tile, stride) - offsetof(Tile, to)), [apart] "i"(apart)
          : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc",
            "memory");
      if (rest == 0) break;
    }
  }

  ATTEND_CODE __attribute__((noinline)) static void row(const Chains& c) {
    const float *a = c.a, *b = c.b;
    float* to = c.to[0] + c.column;
    const ptrdiff_t step = 4 * c.b_step, stride = 4 * c.b_stride;
    const int adds = c.adds;
    int left = at_most(c.columns, columns(1));
    if (left == 16 && c.b_stride == 1) {
      __asm__ volatile(
          "vmov.i32 q0, #0\n"
          "vmov.i32 q1, #0\n"
          "vmov.i32 q2, #0\n"
          "vmov.i32 q3, #0\n"
          "lsr r0, %[steps], #2\n"
          "wls lr, r0, 2f\n"
          "1:\n"
          "vldrw.u32 q4, [%[a]], #16\n"
          "vmul.f32 q4, q4, %[scale]\n"
          "vmov r0, r1, d8\n"
          "vmov r2, r3, d9\n"
          "vldrw.u32 q4, [%[b]]\n"
          "vldrw.u32 q5, [%[b], #16]\n"
          "vfma.f32 q0, q4, r0\n"
          "vldrw.u32 q6, [%[b], #32]\n"
          "vfma.f32 q1, q5, r0\n"
          "vldrw.u32 q7, [%[b], #48]\n"
          "add %[b], %[b], %[step]\n"
          "vfma.f32 q2, q6, r0\n"
          "vfma.f32 q3, q7, r0\n"
          "vldrw.u32 q4, [%[b]]\n"
          "vldrw.u32 q5, [%[b], #16]\n"
          "vfma.f32 q0, q4, r1\n"
          "vldrw.u32 q6, [%[b], #32]\n"
          "vfma.f32 q1, q5, r1\n"
          "vldrw.u32 q7, [%[b], #48]\n"
          "add %[b], %[b], %[step]\n"
          "vfma.f32 q2, q6, r1\n"
          "vfma.f32 q3, q7, r1\n"
          "vldrw.u32 q4, [%[b]]\n"
          "vldrw.u32 q5, [%[b], #16]\n"
          "vfma.f32 q0, q4, r2\n"
          "vldrw.u32 q6, [%[b], #32]\n"
          "vfma.f32 q1, q5, r2\n"
          "vldrw.u32 q7, [%[b], #48]\n"
          "add %[b], %[b], %[step]\n"
          "vfma.f32 q2, q6, r2\n"
          "vfma.f32 q3, q7, r2\n"
          "vldrw.u32 q4, [%[b]]\n"
          "vldrw.u32 q5, [%[b], #16]\n"
          "vfma.f32 q0, q4, r3\n"
          "vldrw.u32 q6, [%[b], #32]\n"
          "vfma.f32 q1, q5, r3\n"
          "vldrw.u32 q7, [%[b], #48]\n"
          "add %[b], %[b], %[step]\n"
          "vfma.f32 q2, q6, r3\n"
          "vfma.f32 q3, q7, r3\n"
          "le lr, 1b\n"
          "2:\n"
          "and r0, %[steps], #3\n"
          "wls lr, r0, 4f\n"
          "3:\n"
          "ldr r0, [%[a]], #4\n"
          "vdup.32 q4, r0\n"
          "vmul.f32 q4, q4, %[scale]\n"
          "vmov r0, s16\n"
          "vldrw.u32 q4, [%[b]]\n"
          "vldrw.u32 q5, [%[b], #16]\n"
          "vfma.f32 q0, q4, r0\n"
          "vldrw.u32 q6, [%[b], #32]\n"
          "vfma.f32 q1, q5, r0\n"
          "vldrw.u32 q7, [%[b], #48]\n"
          "add %[b], %[b], %[step]\n"
          "vfma.f32 q2, q6, r0\n"
          "vfma.f32 q3, q7, r0\n"
          "le lr, 3b\n"
          "4:\n"
          "ldr r0, %[adds]\n"
          "cbz r0, 5f\n"
          "vldrw.u32 q4, [%[to]]\n"
          "vldrw.u32 q5, [%[to], #16]\n"
          "vldrw.u32 q6, [%[to], #32]\n"
          "vldrw.u32 q7, [%[to], #48]\n"
          "vadd.f32 q0, q0, q4\n"
          "vadd.f32 q1, q1, q5\n"
          "vadd.f32 q2, q2, q6\n"
          "vadd.f32 q3, q3, q7\n"
          "5:\n"
          "vstrw.32 q0, [%[to]]\n"
          "vstrw.32 q1, [%[to], #16]\n"
          "vstrw.32 q2, [%[to], #32]\n"
          "vstrw.32 q3, [%[to], #48]\n"
          : [a] "+r"(a), [b] "+r"(b)
          : [step] "r"(step), [scale] "r"(c.a_scale), [steps] "r"(c.steps), [to] "r"(to), [adds] "m"(adds)
          : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
      return;
    }
    __asm__ volatile(
        "1:\n"
        "movs r0, #0\n"
        "vmov.i32 q0, #0\n"
        "vidup.u32 q7, r0, #1\n"
        "subs r0, %[columns], #1\n"
        "vdup.32 q6, r0\n"
        "ldr r0, %[stride]\n"
        "vmin.u32 q7, q7, q6\n"
        "vmul.i32 q7, q7, r0\n"
        "sub r2, %[b], %[step]\n"
        "add %[b], %[b], r0, lsl #2\n"
        "vadd.i32 q7, q7, r2\n"
        "lsr r0, %[steps], #2\n"
        "wls lr, r0, 3f\n"
        "2:\n"
        "vldrw.u32 q4, [%[a]], #16\n"
        "vmul.f32 q4, q4, %[scale]\n"
        "vmov r0, r1, d8\n"
        "vmov r2, r3, d9\n"
        "vadd.i32 q7, q7, %[step]\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r0\n"
        "vadd.i32 q7, q7, %[step]\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r1\n"
        "vadd.i32 q7, q7, %[step]\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r2\n"
        "vadd.i32 q7, q7, %[step]\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r3\n"
        "le lr, 2b\n"
        "3:\n"
        "and r0, %[steps], #3\n"
        "wls lr, r0, 5f\n"
        "4:\n"
        "ldr r0, [%[a]], #4\n"
        "vdup.32 q4, r0\n"
        "vmul.f32 q4, q4, %[scale]\n"
        "vmov r0, s16\n"
        "vadd.i32 q7, q7, %[step]\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r0\n"
        "le lr, 4b\n"
        "5:\n"
        "ldr r0, %[adds]\n"
        "vctp.32 %[columns]\n"
        "cbz r0, 6f\n"
        "vpst\n"
        "vldrwt.u32 q4, [%[to]]\n"
        "vadd.f32 q0, q0, q4\n"
        "6:\n"
        "vpst\n"
        "vstrwt.32 q0, [%[to]], #16\n"
        "subs %[a], %[a], %[steps], lsl #2\n"
        "subs %[columns], %[columns], #4\n"
        "bgt 1b\n"
        : [a] "+r"(a), [b] "+r"(b), [to] "+r"(to), [columns] "+r"(left)
        : [step] "r"(step), [scale] "r"(c.a_scale), [steps] "r"(c.steps), [stride] "m"(stride), [adds] "m"(adds)
        : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }
};

}  // namespace
}  // namespace attend
