// Single-precision floats of Cortex-M4F, M7 and M33: one lane, 32 registers. The vocabulary is Scalar's; the loops that take
// the time are in assembly, because compilers load registers one by one where one instruction loads many.
#pragma once

#include "../../include/attend/config.h"
#include "scalar.h"

namespace attend {
namespace {

struct Vfp : Scalar {
  // 4 rows x 4 sums, 4 factors and 4 numbers that they multiply take 24 of 32 registers; 1 row x 8 take 17.
  static constexpr int columns(int rows) { return rows == 1 ? 8 : 4; }
  static constexpr bool own_weights = true;

  static void chains(const Chains& c) {
    const bool together = c.b_stride == 1;
    if (c.rows != 1 && (c.columns >= 4 || !together)) {
      chain_4x4(c);
    } else if (c.rows == 1 && c.columns >= 8 && together) {
      chain_1x8(c);
    } else {
      one_by_one(c, c.columns < columns(c.rows) ? c.columns : columns(c.rows));
    }
  }

  // Replaces `count` scores, whole panels of them, by their weights as softmax.h defines them, and adds these to the 16 sums.
  // Two go through the polynomial side by side; its coefficients are loaded anew for each, because a multiply-add overwrites
  // what it adds to.
  ATTEND_CODE __attribute__((noinline)) static void weigh_scores(float* scores, int count, float max, const float* coefficients,
                                                                 float* lane_sums) {
    const float *const end = scores + count, *const lanes_end = lane_sums + panel_keys;
    const float shift = 0x1.8p23f;
    const int lowest = bits_to<int>(shift) + int(max) - 125;  // of the shifted scores, as bits
    int power0, power1;
    __asm__ volatile(
        "1:\n"
        "vldmia %[scores], {s0-s1}\n"
        "vldmia %[coefficients], {s4-s9}\n"
        "vadd.f32 s2, s0, %[shift]\n"
        "vadd.f32 s3, s1, %[shift]\n"
        "vldmia %[coefficients], {s10-s15}\n"
        "vsub.f32 s16, s2, %[shift]\n"
        "vsub.f32 s17, s3, %[shift]\n"
        "vmov %[power0], %[power1], s2, s3\n"
        "vsub.f32 s0, s0, s16\n"
        "vsub.f32 s1, s1, s17\n"
        "vfma.f32 s4, s0, %[first]\n"
        "vfma.f32 s10, s1, %[first]\n"
        "vfma.f32 s5, s4, s0\n"
        "vfma.f32 s11, s10, s1\n"
        "vfma.f32 s6, s5, s0\n"
        "vfma.f32 s12, s11, s1\n"
        "vfma.f32 s7, s6, s0\n"
        "vfma.f32 s13, s12, s1\n"
        "vfma.f32 s8, s7, s0\n"
        "vfma.f32 s14, s13, s1\n"
        "vfma.f32 s9, s8, s0\n"
        "vfma.f32 s15, s14, s1\n"
        "subs %[power0], %[power0], %[lowest]\n"
        "blt 4f\n"
        "add %[power0], %[two], %[power0], lsl #23\n"
        "2:\n"
        "subs %[power1], %[power1], %[lowest]\n"
        "blt 5f\n"
        "add %[power1], %[two], %[power1], lsl #23\n"
        "3:\n"
        "vmov s2, s3, %[power0], %[power1]\n"
        "vldmia %[lane], {s4-s5}\n"
        "vmul.f32 s0, s9, s2\n"
        "vmul.f32 s1, s15, s3\n"
        "vadd.f32 s4, s4, s0\n"
        "vadd.f32 s5, s5, s1\n"
        "vstmia %[scores]!, {s0-s1}\n"
        "vstmia %[lane]!, {s4-s5}\n"
        "cmp %[lane], %[lanes_end]\n"
        "bne 1b\n"
        "sub %[lane], %[lane], #64\n"
        "cmp %[scores], %[end]\n"
        "bne 1b\n"
        "b 6f\n"
        "4:\n"
        "add %[power0], %[power0], %[lowest]\n"
        "cmn %[power0], #0x800000\n"
        "it eq\n"
        "vmoveq.f32 s9, %[shift]\n"
        "mov %[power0], #0\n"
        "b 2b\n"
        "5:\n"
        "add %[power1], %[power1], %[lowest]\n"
        "cmn %[power1], #0x800000\n"
        "it eq\n"
        "vmoveq.f32 s15, %[shift]\n"
        "mov %[power1], #0\n"
        "b 3b\n"
        "6:\n"
        : [scores] "+r"(scores), [lane] "+r"(lane_sums), [power0] "=&r"(power0), [power1] "=&r"(power1)
        : [end] "r"(end), [lanes_end] "r"(lanes_end), [coefficients] "r"(coefficients + 1), [lowest] "r"(lowest),
          [two] "r"(2 << 23), [shift] "t"(shift), [first] "t"(coefficients[0])
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "cc", "memory");
  }

 private:
  ATTEND_CODE __attribute__((noinline)) static void chain_4x4(const Chains& c) {
    const float *a0 = c.a, *a1 = a0 + c.a_stride, *a2 = a1 + c.a_stride, *a3 = a2 + c.a_stride;
    const bool side_by_side = c.b_stride == 1;
    const ptrdiff_t stride = side_by_side ? c.b_step : c.b_stride;
    // Columns that do not exist are taken from the last one that does.
    const float *b0 = c.b, *b1 = b0 + (c.columns > 1 ? stride : 0), *b2 = b1 + (c.columns > 2 ? stride : 0),
                *b3 = b2 + (c.columns > 3 ? stride : 0);
    int steps = c.steps, row = 0;
    __asm__ volatile(
        "vmov d0, %[row], %[row]\n"
        "vmov d1, %[row], %[row]\n"
        "vmov d2, %[row], %[row]\n"
        "vmov d3, %[row], %[row]\n"
        "vmov d4, %[row], %[row]\n"
        "vmov d5, %[row], %[row]\n"
        "vmov d6, %[row], %[row]\n"
        "vmov d7, %[row], %[row]\n"
        "cmp %[side_by_side], #0\n"
        "beq 2f\n"
        "sub %[b1], %[b1], %[b0]\n"
        "1:\n"
        "vldmia %[a0]!, {s16}\n"
        "vldmia %[b0], {s20-s23}\n"
        "vldmia %[a1]!, {s17}\n"
        "add %[b0], %[b0], %[b1]\n"
        "vldmia %[a2]!, {s18}\n"
        "vldmia %[a3]!, {s19}\n"
        "vfma.f32 s0, s16, s20\n"
        "vfma.f32 s1, s16, s21\n"
        "vfma.f32 s2, s16, s22\n"
        "vfma.f32 s3, s16, s23\n"
        "vfma.f32 s4, s17, s20\n"
        "vfma.f32 s5, s17, s21\n"
        "vfma.f32 s6, s17, s22\n"
        "vfma.f32 s7, s17, s23\n"
        "vfma.f32 s8, s18, s20\n"
        "vfma.f32 s9, s18, s21\n"
        "vfma.f32 s10, s18, s22\n"
        "vfma.f32 s11, s18, s23\n"
        "vfma.f32 s12, s19, s20\n"
        "vfma.f32 s13, s19, s21\n"
        "vfma.f32 s14, s19, s22\n"
        "vfma.f32 s15, s19, s23\n"
        "subs %[steps], %[steps], #1\n"
        "bne 1b\n"
        "b 3f\n"
        "2:\n"
        "vldmia %[a0]!, {s16}\n"
        "vldmia %[a1]!, {s17}\n"
        "vldmia %[a2]!, {s18}\n"
        "vldmia %[a3]!, {s19}\n"
        "vldmia %[b0]!, {s20}\n"
        "vldmia %[b1]!, {s21}\n"
        "vldmia %[b2]!, {s22}\n"
        "vldmia %[b3]!, {s23}\n"
        "vfma.f32 s0, s16, s20\n"
        "vfma.f32 s1, s16, s21\n"
        "vfma.f32 s2, s16, s22\n"
        "vfma.f32 s3, s16, s23\n"
        "vfma.f32 s4, s17, s20\n"
        "vfma.f32 s5, s17, s21\n"
        "vfma.f32 s6, s17, s22\n"
        "vfma.f32 s7, s17, s23\n"
        "vfma.f32 s8, s18, s20\n"
        "vfma.f32 s9, s18, s21\n"
        "vfma.f32 s10, s18, s22\n"
        "vfma.f32 s11, s18, s23\n"
        "vfma.f32 s12, s19, s20\n"
        "vfma.f32 s13, s19, s21\n"
        "vfma.f32 s14, s19, s22\n"
        "vfma.f32 s15, s19, s23\n"
        "subs %[steps], %[steps], #1\n"
        "bne 2b\n"
        "3:\n"
        "ldr %[a0], %[to]\n"
        "ldr %[a1], %[column]\n"
        "ldrb %[a2], %[adds]\n"
        "cmp %[a2], #0\n"
        "beq 4f\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vldmia %[row], {s16-s19}\n"
        "vadd.f32 s0, s0, s16\n"
        "vadd.f32 s1, s1, s17\n"
        "vadd.f32 s2, s2, s18\n"
        "vadd.f32 s3, s3, s19\n"
        "vstmia %[row], {s0-s3}\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vldmia %[row], {s16-s19}\n"
        "vadd.f32 s4, s4, s16\n"
        "vadd.f32 s5, s5, s17\n"
        "vadd.f32 s6, s6, s18\n"
        "vadd.f32 s7, s7, s19\n"
        "vstmia %[row], {s4-s7}\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vldmia %[row], {s16-s19}\n"
        "vadd.f32 s8, s8, s16\n"
        "vadd.f32 s9, s9, s17\n"
        "vadd.f32 s10, s10, s18\n"
        "vadd.f32 s11, s11, s19\n"
        "vstmia %[row], {s8-s11}\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vldmia %[row], {s16-s19}\n"
        "vadd.f32 s12, s12, s16\n"
        "vadd.f32 s13, s13, s17\n"
        "vadd.f32 s14, s14, s18\n"
        "vadd.f32 s15, s15, s19\n"
        "vstmia %[row], {s12-s15}\n"
        "b 5f\n"
        "4:\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vstmia %[row], {s0-s3}\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vstmia %[row], {s4-s7}\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vstmia %[row], {s8-s11}\n"
        "ldr %[row], [%[a0]], #4\n"
        "add %[row], %[row], %[a1], lsl #2\n"
        "vstmia %[row], {s12-s15}\n"
        "5:\n"
        : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2),
          [b3] "+r"(b3), [steps] "+r"(steps), [row] "+&r"(row)
        : [side_by_side] "r"(side_by_side), [to] "m"(c.to), [column] "m"(c.column), [adds] "m"(c.adds)
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "cc", "memory");
  }

  ATTEND_CODE __attribute__((noinline)) static void chain_1x8(const Chains& c) {
    const float *a = c.a, *b = c.b;
    float* const to = c.to[0] + c.column;
    int steps = c.steps;
    __asm__ volatile(
        "vmov d0, %[zero], %[zero]\n"
        "vmov d1, %[zero], %[zero]\n"
        "vmov d2, %[zero], %[zero]\n"
        "vmov d3, %[zero], %[zero]\n"
        "1:\n"
        "vldmia %[a]!, {s8}\n"
        "vmul.f32 s8, s8, %[scale]\n"
        "vldmia %[b], {s9-s16}\n"
        "add %[b], %[b], %[b_step], lsl #2\n"
        "vfma.f32 s0, s8, s9\n"
        "vfma.f32 s1, s8, s10\n"
        "vfma.f32 s2, s8, s11\n"
        "vfma.f32 s3, s8, s12\n"
        "vfma.f32 s4, s8, s13\n"
        "vfma.f32 s5, s8, s14\n"
        "vfma.f32 s6, s8, s15\n"
        "vfma.f32 s7, s8, s16\n"
        "subs %[steps], %[steps], #1\n"
        "bne 1b\n"
        "cmp %[adds], #0\n"
        "beq 2f\n"
        "vldmia %[to], {s8-s15}\n"
        "vadd.f32 s0, s0, s8\n"
        "vadd.f32 s1, s1, s9\n"
        "vadd.f32 s2, s2, s10\n"
        "vadd.f32 s3, s3, s11\n"
        "vadd.f32 s4, s4, s12\n"
        "vadd.f32 s5, s5, s13\n"
        "vadd.f32 s6, s6, s14\n"
        "vadd.f32 s7, s7, s15\n"
        "2:\n"
        "vstmia %[to], {s0-s7}\n"
        : [a] "+r"(a), [b] "+r"(b), [steps] "+r"(steps)
        : [b_step] "r"(c.b_step), [to] "r"(to), [zero] "r"(0), [adds] "r"(c.adds), [scale] "t"(c.a_scale)
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "cc", "memory");
  }
};

}  // namespace
}  // namespace attend
