// Projections of one token on Cortex-M4F, M7 and M33: whole chains, all of them in one call, because a call for each would take
// as long as a quarter of its multiply-adds.

struct VfpOutputs : VfpTyped {
  template <class Number>
  static constexpr int row_outputs = sizeof(Number) == sizeof(float) ? 8 : 4;

  // 16 outputs of a panel: sums in s0-s15, 8 weights in s16-s23, 4 inputs in s24-s27. Sums so far are in memory.
  ATTEND_HOT ATTEND_NOINLINE static void panel_outputs(const OutputChains<float>& c) {
    const float *input = c.input, *weights = c.weights;
    int chains = c.chains, adds = 0, rounds;  // a zero beside `adds` could be in its register
    __asm__ volatile(
        "1:\n"
        "mov %[rounds], #0\n"
        ".irpc i, 01234567\n"
        "vmov d\\i, %[rounds], %[rounds]\n"
        ".endr\n"
        "mov %[rounds], #4\n"
        "2:\n"
        "vldmia %[input]!, {s24-s27}\n"
        ".irp x, s24, s25, s26, s27\n"
        "vldmia %[weights]!, {s16-s23}\n"
        "vfma.f32 s0, \\x, s16; vfma.f32 s1, \\x, s17; vfma.f32 s2, \\x, s18; vfma.f32 s3, \\x, s19\n"
        "vfma.f32 s4, \\x, s20; vfma.f32 s5, \\x, s21; vfma.f32 s6, \\x, s22; vfma.f32 s7, \\x, s23\n"
        "vldmia %[weights]!, {s16-s23}\n"
        "vfma.f32 s8, \\x, s16; vfma.f32 s9, \\x, s17; vfma.f32 s10, \\x, s18; vfma.f32 s11, \\x, s19\n"
        "vfma.f32 s12, \\x, s20; vfma.f32 s13, \\x, s21; vfma.f32 s14, \\x, s22; vfma.f32 s15, \\x, s23\n"
        ".endr\n"
        "subs %[rounds], %[rounds], #1\n"
        "bne 2b\n"
        "cmp %[adds], #0\n"
        "beq 3f\n"
        "vldmia %[to], {s16-s31}\n"
        "vadd.f32 s0, s0, s16; vadd.f32 s1, s1, s17; vadd.f32 s2, s2, s18; vadd.f32 s3, s3, s19\n"
        "vadd.f32 s4, s4, s20; vadd.f32 s5, s5, s21; vadd.f32 s6, s6, s22; vadd.f32 s7, s7, s23\n"
        "vadd.f32 s8, s8, s24; vadd.f32 s9, s9, s25; vadd.f32 s10, s10, s26; vadd.f32 s11, s11, s27\n"
        "vadd.f32 s12, s12, s28; vadd.f32 s13, s13, s29; vadd.f32 s14, s14, s30; vadd.f32 s15, s15, s31\n"
        "3:\n"
        "mov %[adds], #1\n"
        "vstmia %[to], {s0-s15}\n"
        "subs %[chains], %[chains], #1\n"
        "bne 1b\n"
        : [input] "+r"(input), [weights] "+r"(weights), [chains] "+r"(chains), [adds] "+r"(adds), [rounds] "=&r"(rounds)
        : [to] "r"(c.to)
        : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "cc", "memory");
  }

  // 8 outputs whose weights lie in rows, two rounds of 4 inputs at a time: sums of a chain in s0-s7, of all chains in s8-s15,
  // inputs in s16-s19, weights of two rows in s20-s27.
  //   r0-r6, r8 rows of weights   r10 inputs   r11 rounds left   r12 to   lr zero
  ATTEND_HOT ATTEND_NOINLINE static void outputs_of_rows(const OutputChains<float>& c) {
    register const float* row0 __asm__("r0") = c.weights;
    register const float* row1 __asm__("r1") = row0 + c.stride;
    register const float* row2 __asm__("r2") = row1 + c.stride;
    register const float* row3 __asm__("r3") = row2 + c.stride;
    register const float* row4 __asm__("r4") = row3 + c.stride;
    register const float* row5 __asm__("r5") = row4 + c.stride;
    register const float* row6 __asm__("r6") = row5 + c.stride;
    register const float* row7 __asm__("r8") = row6 + c.stride;
    register const float* input __asm__("r10") = c.input;
    register int rounds __asm__("r11") = 4 * c.chains;
    register float* to __asm__("r12") = c.to;
    __asm__ volatile(
        ".macro multiply_add sum, row, b0, b1, b2, b3\n"
        "vldmia \\row!, {\\b0-\\b3}\n"
        "vfma.f32 \\sum, s16, \\b0; vfma.f32 \\sum, s17, \\b1; vfma.f32 \\sum, s18, \\b2; vfma.f32 \\sum, s19, \\b3\n"
        ".endm\n"
        "mov lr, #0\n"
        ".irpc i, 4567\n"
        "vmov d\\i, lr, lr\n"
        ".endr\n"
        "1:\n"
        ".irpc i, 0123\n"
        "vmov d\\i, lr, lr\n"
        ".endr\n"
        "2:\n"
        ".rept 2\n"
        "vldmia r10!, {s16-s19}\n"
        "multiply_add s0, r0, s20, s21, s22, s23\n"
        "multiply_add s1, r1, s24, s25, s26, s27\n"
        "multiply_add s2, r2, s20, s21, s22, s23\n"
        "multiply_add s3, r3, s24, s25, s26, s27\n"
        "multiply_add s4, r4, s20, s21, s22, s23\n"
        "multiply_add s5, r5, s24, s25, s26, s27\n"
        "multiply_add s6, r6, s20, s21, s22, s23\n"
        "multiply_add s7, r8, s24, s25, s26, s27\n"
        ".endr\n"
        ".purgem multiply_add\n"
        "subs r11, r11, #2\n"
        "tst r11, #3\n"
        "bne 2b\n"
        "vadd.f32 s8, s8, s0; vadd.f32 s9, s9, s1; vadd.f32 s10, s10, s2; vadd.f32 s11, s11, s3\n"
        "vadd.f32 s12, s12, s4; vadd.f32 s13, s13, s5; vadd.f32 s14, s14, s6; vadd.f32 s15, s15, s7\n"
        "cmp r11, #0\n"
        "bne 1b\n"
        "vstmia r12, {s8-s15}\n"
        : "+r"(row0), "+r"(row1), "+r"(row2), "+r"(row3), "+r"(row4), "+r"(row5), "+r"(row6), "+r"(row7), "+r"(input),
          "+r"(rounds), "+r"(to)
        :
        : "lr", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12", "d13", "cc", "memory");
  }

  // Not templates, because GCC ignores sections of these.
  ATTEND_HOT ATTEND_NOINLINE static void outputs_of_rows(const OutputChains<Half>& c) { widened_outputs<half>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void outputs_of_rows(const OutputChains<Bfloat>& c) { widened_outputs<bfloat>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void outputs_of_rows(const OutputChains<int8_t>& c) { widened_outputs<byte>(c); }

  // Whether that is for rows as they lie: numbers of two bytes are loaded by words.
  template <class Number>
  static bool takes_rows(const Number* weights, ptrdiff_t stride) {
    return sizeof(Number) != 2 || (is_word(weights) && stride % 2 == 0);
  }

  // Outputs whose weights are groups of 4 bits, one by one: what the 16 numbers stand for is a table in memory, filled for each
  // group. Sums of a chain in s0, of all chains in s1, weights in s4-s7, a scale in s2, inputs, or the table, in s16-s31.
  //   r0-r3 four bytes each   r4 table   r6 step   r8 from numbers to their scale   r10 inputs   r11 chains left   r12 numbers
  ATTEND_HOT ATTEND_NOINLINE static void outputs_of_groups(const GroupOutputs& c) {
    if (!loads_words_anywhere && c.panels == nullptr) return Scalar::outputs_of_groups(c);
    float weights[16];
    for (int o = 0; o < c.outputs; ++o) {
      const Int4Numbers first = c.panels != nullptr ? numbers_of(*c.panels, o) : numbers_of(c.rows[o * c.stride]);
      register float* table __asm__("r4") = weights;
      register ptrdiff_t step __asm__("r6") = first.step;
      register ptrdiff_t scale __asm__("r8") = c.panels != nullptr ? -ptrdiff_t(sizeof c.panels->scales) - 2 * o : -2;
      register const float* input __asm__("r10") = c.input;
      register int chains __asm__("r11") = 2 * c.groups;
      register const uint8_t* numbers __asm__("r12") = first.bytes;
      register float sum __asm__("s1");
      __asm__ volatile(
          ".macro multiply_add word, x0, x1, x2, x3\n"
          "and r5, \\word, #15; ubfx lr, \\word, #8, #4\n"
          "ldr r5, [r4, r5, lsl #2]; ldr lr, [r4, lr, lsl #2]\n"
          "vmov s4, s5, r5, lr\n"
          "ubfx r5, \\word, #16, #4; ubfx lr, \\word, #24, #4\n"
          "ldr r5, [r4, r5, lsl #2]; ldr lr, [r4, lr, lsl #2]\n"
          "vmov s6, s7, r5, lr\n"
          "lsr \\word, \\word, #4\n"
          "vfma.f32 s0, \\x0, s4; vfma.f32 s0, \\x1, s5; vfma.f32 s0, \\x2, s6; vfma.f32 s0, \\x3, s7\n"
          ".endm\n"
          "mov lr, #0\n"
          "vmov s1, lr\n"
          "vmov.f32 s8, #-8.0\n"
          "1:\n"
          "ldrh lr, [r12, r8]\n"
          "vmov s2, lr\n"
          "vcvtb.f32.f16 s2, s2\n"
          "vsub.f32 s3, s2, s2; vadd.f32 s2, s2, s3\n"  // NaN where it is infinite
          "vmul.f32 s16, s2, s8; vadd.f32 s3, s2, s2; vadd.f32 s17, s16, s2\n"
          "vadd.f32 s18, s16, s3; vadd.f32 s19, s17, s3; vadd.f32 s20, s18, s3; vadd.f32 s21, s19, s3\n"
          "vadd.f32 s22, s20, s3; vadd.f32 s23, s21, s3; vadd.f32 s24, s22, s3; vadd.f32 s25, s23, s3\n"
          "vadd.f32 s26, s24, s3; vadd.f32 s27, s25, s3; vadd.f32 s28, s26, s3; vadd.f32 s29, s27, s3\n"
          "vadd.f32 s30, s28, s3; vadd.f32 s31, s29, s3\n"
          "add lr, r12, r6\n"
          "ldr r0, [r12]; ldr r1, [lr]; ldr r2, [r12, r6, lsl #1]; ldr r3, [lr, r6, lsl #1]\n"
          "vstmia r4, {s16-s31}\n"
          "add r12, r12, r6, lsl #2\n"
          "add r12, r12, r6, lsr #1\n"  // a group has step / 2 bytes more for scales
          "2:\n"
          "vldmia r10!, {s16-s31}\n"
          "vsub.f32 s0, s8, s8\n"
          "multiply_add r0, s16, s17, s18, s19\n"
          "multiply_add r1, s20, s21, s22, s23\n"
          "multiply_add r2, s24, s25, s26, s27\n"
          "multiply_add r3, s28, s29, s30, s31\n"
          ".purgem multiply_add\n"
          "sub r11, r11, #1\n"
          "vadd.f32 s1, s1, s0\n"
          "tst r11, #1\n"
          "bne 2b\n"
          "cmp r11, #0\n"
          "bne 1b\n"
          : "+r"(input), "+r"(chains), "+r"(numbers), "=t"(sum)
          : "r"(table), "r"(step), "r"(scale)
          : "r0", "r1", "r2", "r3", "r5", "lr", "s0", "d1", "d2", "d3", "s8", "d8", "d9", "d10", "d11", "d12", "d13", "d14",
            "d15", "cc", "memory");
      c.to[o] = sum;
    }
  }

 private:
  // 4 outputs, 4 inputs at a time: sums of a chain in s0-s3, of all chains in s4-s7, inputs in s8-s11, weights in s12-s15.
  //   r0-r3 rows of weights   r4, r5, r6, r8 weights   r10 inputs   r11 rounds left   r12 to   lr zero
  template <Format format, class Number>
  ATTEND_ALWAYS_INLINE static void widened_outputs(const OutputChains<Number>& c) {
    register const Number* row0 __asm__("r0") = c.weights;
    register const Number* row1 __asm__("r1") = row0 + c.stride;
    register const Number* row2 __asm__("r2") = row1 + c.stride;
    register const Number* row3 __asm__("r3") = row2 + c.stride;
    register const float* input __asm__("r10") = c.input;
    register int rounds __asm__("r11") = 4 * c.chains;
    register float* to __asm__("r12") = c.to;
    __asm__ volatile(
        "mov lr, #0\n"
        "vmov d2, lr, lr; vmov d3, lr, lr\n"
        "1:\n"
        "vmov d0, lr, lr; vmov d1, lr, lr\n"
        "2:\n"
        "vldmia r10!, {s8-s11}\n"
        ".irpc i, 0123\n"
        ".if %c[byte]\n"
        "ldrsb r4, [r\\i], #4\n"
        "ldrsb r5, [r\\i, #-3]\n"
        "ldrsb r6, [r\\i, #-2]\n"
        "ldrsb r8, [r\\i, #-1]\n"
        "vmov d6, r4, r5; vmov d7, r6, r8\n"
        "vcvt.f32.s32 s12, s12; vcvt.f32.s32 s13, s13; vcvt.f32.s32 s14, s14; vcvt.f32.s32 s15, s15\n"
        ".elseif %c[bfloat]\n"
        "ldmia r\\i!, {r5, r8}\n"
        "lsl r4, r5, #16; bfc r5, #0, #16\n"
        "lsl r6, r8, #16; bfc r8, #0, #16\n"
        "vmov d6, r4, r5; vmov d7, r6, r8\n"
        ".else\n"
        "vldmia r\\i!, {s14-s15}\n"
        "vcvtb.f32.f16 s12, s14; vcvtt.f32.f16 s13, s14\n"
        "vcvtb.f32.f16 s14, s15; vcvtt.f32.f16 s15, s15\n"
        ".endif\n"
        "vfma.f32 s\\i, s8, s12; vfma.f32 s\\i, s9, s13; vfma.f32 s\\i, s10, s14; vfma.f32 s\\i, s11, s15\n"
        ".endr\n"
        "subs r11, r11, #1\n"
        "tst r11, #3\n"
        "bne 2b\n"
        "vadd.f32 s4, s4, s0; vadd.f32 s5, s5, s1; vadd.f32 s6, s6, s2; vadd.f32 s7, s7, s3\n"
        "cmp r11, #0\n"
        "bne 1b\n"
        "vstmia r12, {s4-s7}\n"
        : "+r"(row0), "+r"(row1), "+r"(row2), "+r"(row3), "+r"(input), "+r"(rounds), "+r"(to)
        : [byte] "i"(int(format == byte)), [bfloat] "i"(int(format == bfloat))
        : "r4", "r5", "r6", "r8", "lr", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "cc", "memory");
  }
};
