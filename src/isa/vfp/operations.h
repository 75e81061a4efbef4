// Single-precision floats of Cortex-M4F, M7 and M33: one lane, 32 registers. The vocabulary is Scalar's; the loops that take
// the time are in assembly, because compilers load registers one by one where one instruction loads many.

struct Vfp : VfpOutputs {
  static constexpr int tile_rows = 2;
  static constexpr int columns(int /*rows*/, bool apart) { return apart ? 4 : 8; }

#if __ARM_ARCH >= 8 || (__ARM_FP & 8)  // FPv5, unlike the M4's
  static Vec max(Vec a, Vec b) {
    __asm__("vmaxnm.f32 %0, %0, %1" : "+t"(a) : "t"(b));  // the number where one is NaN
    return a;
  }
#endif

  // Opaque to the compiler, which would otherwise call memset to fill with zeros.
  static Vec broadcast(float a) {
    __asm__("" : "+t"(a));
    return a;
  }

  using VfpTyped::chains;
  ATTEND_HOT static void chains(const Chains& c) {
    if (c.b_stride != 1 ? c.columns < 4 || c.steps % 4 != 0 : c.columns < 8) {
      rest(c);
    } else if (c.b_stride != 1) {
      chains_of_rows_2x4(c);
    } else if (c.rows == 1) {
      chains_1x8(c);
    } else {
      chains_2x8(c);
    }
  }

  // Where b's columns lie side by side.
  ATTEND_HOT static void panel_chains(const Chains& c) {
    if (c.columns < 8) {
      rest(c);
    } else if (c.rows == 1) {
      chains_1x8(c);
    } else {
      chains_2x8(c);
    }
  }

  ATTEND_HOT static void continue_chains(const Chains& c) { c.columns == 8 ? continue_1x8(c) : Scalar::continue_chains(c); }

  // Replaces `count` scores, whole panels of them, by their weights as row_softmax.h defines them, and adds these to the 16
  // sums. Two go through the polynomial side by side; its coefficients are loaded anew for each, because a multiply-add
  // overwrites what it adds to.
  ATTEND_HOT ATTEND_NOINLINE static void weights_of_scores(float* scores, int count, float max, const float* coefficients,
                                                           float* lane_sums) {
    const float *const end = scores + count, *const lanes_end = lane_sums + panel_keys;
    const float shift = 12582912.0f;
    const int lowest = bits_to<int>(shift) + whole(max) - 125;  // of the shifted scores, as bits
    int power0, power1;
    __asm__ volatile(
        "1:\n"
        "vldmia %[scores], {s0-s1}\n"
        "vldmia %[coefficients], {s4-s9}\n"
        "vadd.f32 s2, s0, %[shift]; vadd.f32 s3, s1, %[shift]\n"
        "vldmia %[coefficients], {s10-s15}\n"
        "vsub.f32 s16, s2, %[shift]; vsub.f32 s17, s3, %[shift]\n"
        "vmov %[power0], %[power1], s2, s3\n"
        "vsub.f32 s0, s0, s16; vsub.f32 s1, s1, s17\n"
        "vfma.f32 s4, s0, %[first]; vfma.f32 s10, s1, %[first]\n"
        "vfma.f32 s5, s4, s0; vfma.f32 s11, s10, s1\n"
        "vfma.f32 s6, s5, s0; vfma.f32 s12, s11, s1\n"
        "vfma.f32 s7, s6, s0; vfma.f32 s13, s12, s1\n"
        "vfma.f32 s8, s7, s0; vfma.f32 s14, s13, s1\n"
        "vfma.f32 s9, s8, s0; vfma.f32 s15, s14, s1\n"
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
        "vmul.f32 s0, s9, s2; vmul.f32 s1, s15, s3\n"
        "vadd.f32 s4, s4, s0; vadd.f32 s5, s5, s1\n"
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
  ATTEND_NOINLINE static void rest(const Chains& c) { singly(c, 0); }

  // 1 row x 8 columns: 8 sums, 8 numbers of b and a factor. Sums begin at zero, or go on from sums in memory.
  ATTEND_HOT ATTEND_NOINLINE static void chains_1x8(const Chains& c) { row_1x8<false>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void continue_1x8(const Chains& c) { row_1x8<true>(c); }
  template <bool continues>
  ATTEND_ALWAYS_INLINE static void row_1x8(const Chains& c) {
    const float *a = c.a, *b = c.b;
    int steps = c.steps;
    __asm__ volatile(
        ".if %c[continues]\n"
        "vldmia %[to], {s0-s7}\n"
        ".else\n"
        ".irpc i, 0123\n"
        "vmov d\\i, %[zero], %[zero]\n"
        ".endr\n"
        ".endif\n"
        "1:\n"
        "vldmia %[a]!, {s8}\n"
        "vldmia %[b], {s10-s17}\n"
        "vmul.f32 s8, s8, %[scale]\n"
        "add %[b], %[b], %[b_step], lsl #2\n"
        "subs %[steps], %[steps], #1\n"
        ".irpc i, 01234567\n"
        "vfma.f32 s\\i, s8, s1\\i\n"
        ".endr\n"
        "bne 1b\n"
        ".if !%c[continues]\n"
        "cmp %[adds], #0\n"
        "beq 2f\n"
        "vldmia %[to], {s10-s17}\n"
        ".irpc i, 01234567\n"
        "vadd.f32 s\\i, s\\i, s1\\i\n"
        ".endr\n"
        ".endif\n"
        "2:\n"
        "vstmia %[to], {s0-s7}\n"
        : [a] "+r"(a), [b] "+r"(b), [steps] "+r"(steps)
        : [b_step] "r"(c.b_step), [to] "r"(c.to[0] + c.column), [zero] "r"(0), [adds] "r"(c.adds), [scale] "t"(c.a_scale),
          [continues] "i"(int(continues))
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "cc", "memory");
  }

  // 2 rows x 8 columns: 16 sums, 8 numbers of b and 2 factors.
  ATTEND_HOT ATTEND_NOINLINE static void chains_2x8(const Chains& c) {
    const float *a0 = c.a, *a1 = a0 + c.a_stride, *b = c.b;
    int steps = c.steps;
    __asm__ volatile(
        ".irpc i, 01234567\n"
        "vmov d\\i, %[zero], %[zero]\n"
        ".endr\n"
        "1:\n"
        "vldmia %[a0]!, {s16}\n"
        "vldmia %[b], {s18-s25}\n"
        "vldmia %[a1]!, {s17}\n"
        "add %[b], %[b], %[b_step], lsl #2\n"
        "subs %[steps], %[steps], #1\n"
        "vfma.f32 s0, s16, s18; vfma.f32 s1, s16, s19; vfma.f32 s2, s16, s20; vfma.f32 s3, s16, s21\n"
        "vfma.f32 s4, s16, s22; vfma.f32 s5, s16, s23; vfma.f32 s6, s16, s24; vfma.f32 s7, s16, s25\n"
        "vfma.f32 s8, s17, s18; vfma.f32 s9, s17, s19; vfma.f32 s10, s17, s20; vfma.f32 s11, s17, s21\n"
        "vfma.f32 s12, s17, s22; vfma.f32 s13, s17, s23; vfma.f32 s14, s17, s24; vfma.f32 s15, s17, s25\n"
        "bne 1b\n"
        "cmp %[adds], #0\n"
        "beq 2f\n"
        "vldmia %[to0], {s16-s23}\n"
        "vadd.f32 s0, s0, s16; vadd.f32 s1, s1, s17; vadd.f32 s2, s2, s18; vadd.f32 s3, s3, s19\n"
        "vadd.f32 s4, s4, s20; vadd.f32 s5, s5, s21; vadd.f32 s6, s6, s22; vadd.f32 s7, s7, s23\n"
        "vldmia %[to1], {s16-s23}\n"
        "vadd.f32 s8, s8, s16; vadd.f32 s9, s9, s17; vadd.f32 s10, s10, s18; vadd.f32 s11, s11, s19\n"
        "vadd.f32 s12, s12, s20; vadd.f32 s13, s13, s21; vadd.f32 s14, s14, s22; vadd.f32 s15, s15, s23\n"
        "2:\n"
        "vstmia %[to0], {s0-s7}\n"
        "vstmia %[to1], {s8-s15}\n"
        : [a0] "+r"(a0), [a1] "+r"(a1), [b] "+r"(b), [steps] "+r"(steps)
        :
        [b_step] "r"(c.b_step), [to0] "r"(c.to[0] + c.column), [to1] "r"(c.to[1] + c.column), [zero] "r"(0), [adds] "r"(c.adds)
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12", "cc", "memory");
  }

  // 2 rows x 4 columns, 4 steps at a time, where steps lie side by side: 8 sums, 4 x 4 numbers of b and 2 x 4 factors. A single
  // row is computed twice.
  ATTEND_HOT ATTEND_NOINLINE static void chains_of_rows_2x4(const Chains& c) {
    // Registers by name, because without optimisation compilers do not find enough.
    register const float* a0 __asm__("r0") = c.a;
    register const float* a1 __asm__("r1") = a0 + (c.rows - 1) * c.a_stride;
    register const float* b0 __asm__("r2") = c.b;
    register const float* b1 __asm__("r3") = b0 + c.b_stride;
    register const float* b2 __asm__("r4") = b1 + c.b_stride;
    register const float* b3 __asm__("r5") = b2 + c.b_stride;
    register int steps __asm__("r6") = c.steps;
    register float* to0 __asm__("r8") = c.to[0] + c.column;
    register float* to1 __asm__("r11") = c.to[c.rows - 1] + c.column;
    register int adds __asm__("r12") = c.adds;
    register int zero __asm__("lr") = 0;
    __asm__ volatile(
        ".irpc i, 0123\n"
        "vmov d\\i, %[zero], %[zero]\n"
        ".endr\n"
        "1:\n"
        "vldmia %[a0]!, {s8-s11}\n"
        "vldmia %[b0]!, {s16-s19}\n"
        "vldmia %[b1]!, {s20-s23}\n"
        "vldmia %[a1]!, {s12-s15}\n"
        "vldmia %[b2]!, {s24-s27}\n"
        "vldmia %[b3]!, {s28-s31}\n"
        "subs %[steps], %[steps], #4\n"
        ".macro multiply_add a0, a1, b0, b1, b2, b3\n"
        "vfma.f32 s0, \\a0, \\b0; vfma.f32 s1, \\a0, \\b1; vfma.f32 s2, \\a0, \\b2; vfma.f32 s3, \\a0, \\b3\n"
        "vfma.f32 s4, \\a1, \\b0; vfma.f32 s5, \\a1, \\b1; vfma.f32 s6, \\a1, \\b2; vfma.f32 s7, \\a1, \\b3\n"
        ".endm\n"
        "multiply_add s8, s12, s16, s20, s24, s28\n"
        "multiply_add s9, s13, s17, s21, s25, s29\n"
        "multiply_add s10, s14, s18, s22, s26, s30\n"
        "multiply_add s11, s15, s19, s23, s27, s31\n"
        ".purgem multiply_add\n"
        "bne 1b\n"
        "cmp %[adds], #0\n"
        "beq 2f\n"
        "vldmia %[to0], {s8-s11}\n"
        "vadd.f32 s0, s0, s8; vadd.f32 s1, s1, s9; vadd.f32 s2, s2, s10; vadd.f32 s3, s3, s11\n"
        "vldmia %[to1], {s8-s11}\n"
        "vadd.f32 s4, s4, s8; vadd.f32 s5, s5, s9; vadd.f32 s6, s6, s10; vadd.f32 s7, s7, s11\n"
        "2:\n"
        "vstmia %[to0], {s0-s3}\n"
        "vstmia %[to1], {s4-s7}\n"
        : [a0] "+r"(a0), [a1] "+r"(a1), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2), [b3] "+r"(b3), [steps] "+r"(steps)
        : [to0] "r"(to0), [to1] "r"(to1), [zero] "r"(zero), [adds] "r"(adds)
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "cc", "memory");
  }
};
