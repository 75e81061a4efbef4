// Integer softmax and outputs for Cortex-M4, M7 and M33, and the operations that their kernels in C++ are made of. In assembly
// r7 is left to frame pointers.

struct IntegerDspSoftmax {
  using Tile = int32_t (*)[integer_chunk];

  ATTEND_HOT ATTEND_NOINLINE static int32_t largest(const int32_t* scores) {
    register const int32_t* from __asm__("r0") = scores;
    register int32_t maximum __asm__("r1") = *scores;
    __asm__ volatile(
        "add r2, r0, %[row]\n"
        "1:\n"
        ".macro attend_largest numbers:vararg\n"
        "ldm r0!, {\\numbers}\n"
        ".irp number, \\numbers\n"
        "cmp r1, \\number\n"
        "it lt\n"
        "movlt r1, \\number\n"
        ".endr\n"
        ".endm\n"
        ".if %c[small]\n"
        "attend_largest r3, r4\n"
        ".else\n"
        "attend_largest r3, r4, r5, r6, r8, r9, r10, r11\n"
        ".endif\n"
        ".purgem attend_largest\n"
        "cmp r0, r2\n"
        "bne 1b\n"
        : "+r"(from), "+r"(maximum)
        : [row] "i"(4 * integer_chunk), [small] "i"(small)
        : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "cc", "memory");
    return maximum;
  }

  static uint32_t weights(Tile tile, int row, int32_t largest, const core::ScoreScale& scale, uint32_t fraction) {
    exponents(tile[row], largest, scale, fraction);
    return powers(tile[row], tile[0] + row);
  }

  // output_of and clamped: SMMLA keeps the upper half of a product, and adds.
  ATTEND_HOT ATTEND_NOINLINE static void outputs(const int32_t* sums, const RowEnd& row, int count, int8_t* to) {
    const RowEnd end = row;  // outputs cannot alias a copy
    const int32_t half = (1 << end.shift) >> 1;
    for (int c = 0; c < count; ++c) {
      int32_t number = (int32_t(uint32_t(sums[c]) << end.left) >> 1) - end.zero;
      __asm__("smmla %0, %0, %1, %2" : "+r"(number) : "r"(end.factor), "r"(half));
      number = (number >> end.shift) + end.offset;
      __asm__("ssat %0, #8, %0" : "+r"(number) : : "cc");
      to[c] = int8_t(number);
    }
  }

 protected:
  static constexpr int small = code_is_small;  // for assembly

  static uint32_t load(const void* from) {
    uint32_t word;
    __builtin_memcpy(&word, from, sizeof word);
    return word;
  }
  static void store(int16_t* to, uint32_t word) { __builtin_memcpy(to, &word, sizeof word); }

  // Bytes 0 and 2, and bytes 1 and 3, as numbers of 16 bits.
  static uint32_t even(uint32_t bytes) {
    __asm__("sxtb16 %0, %1" : "=r"(bytes) : "r"(bytes));
    return bytes;
  }
  static uint32_t odd(uint32_t bytes) {
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(bytes) : "r"(bytes));
    return bytes;
  }
  static int32_t multiply_add(uint32_t a, uint32_t b, int32_t sum) {
    __asm__("smlad %0, %1, %2, %3" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
    return sum;
  }

 private:
  // Scores to what their weights are the powers of: octaves, from 12 on, in 5 bits, and 2048ths of one in the next 11; all ones
  // from the distance on where weights are zero. (12: one that a weight is rounded from, and 11 bits that powers are shifted
  // by.)
  ATTEND_HOT ATTEND_NOINLINE static void exponents(int32_t* scores, int32_t largest, const core::ScoreScale& scale,
                                                   uint32_t fraction) {
    const uint32_t constants[] = {uint32_t(largest), uint32_t(scale.right), scale.end - 1, scale.factor,
                                  (fraction + 12 * 2048) << 16};
    register int32_t* at __asm__("r0") = scores;
    register const uint32_t* from __asm__("r1") = constants;
    __asm__ volatile(
        "ldm r1, {r8, r9, r10, r11, r12}\n"
        "add r1, r0, %[row]\n"
        "1:\n"
        ".macro attend_exponents numbers:vararg\n"
        "ldm r0, {\\numbers}\n"
        ".irp number, \\numbers\n"
        "sub \\number, r8, \\number\n"
        "lsr \\number, \\number, r9\n"
        "sub r6, r10, \\number\n"
        "mla \\number, \\number, r11, r12\n"
        "orr \\number, \\number, r6, asr #31\n"
        ".endr\n"
        "stm r0!, {\\numbers}\n"
        ".endm\n"
        ".if %c[small]\n"
        "attend_exponents r2, r3\n"
        ".else\n"
        ".rept 4\n"
        "attend_exponents r2, r3, r4, r5\n"
        ".endr\n"
        ".endif\n"
        ".purgem attend_exponents\n"
        "cmp r0, r1\n"
        "bne 1b\n"
        : "+r"(at), "+r"(from)
        : [row] "i"(4 * integer_chunk), [small] "i"(small)
        : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
  }

  // Turns exponents into weights, in pairs two words apart; returns the sum of the weights. A step c - ((f * p) >> 11) is
  // (c * 2^11 + 2047 - f * p) >> 11; the shift of the last one is part of the weight's own. That shift is by one octave more
  // than the weight's, and leaves in the carry what rounds it.
  //   r2-r5 coefficients   r6 two ones   r9 r10 exponents, weights   r11 fraction   r12 end   lr power
  ATTEND_HOT ATTEND_NOINLINE static uint32_t powers(const int32_t* exponents, int32_t* weights) {
    register const int32_t* from __asm__("r0") = exponents;
    register int32_t* to __asm__("r1") = weights;
    register uint32_t sum __asm__("r8") = 0;
    __asm__ volatile(
        "movw r2, %[k0] & 0xffff\n"
        "movt r2, %[k0] >> 16\n"
        "movw r3, %[k1] & 0xffff\n"
        "movt r3, %[k1] >> 16\n"
        "movw r4, %[c2]\n"
        "rsb r4, r4, #0\n"
        "movw r5, %[k3] & 0xffff\n"
        "movt r5, %[k3] >> 16\n"
        "mov r6, #0x00010001\n"
        "add r12, r0, %[row]\n"
        "1:\n"
        ".rept 4 - 3 * %c[small]\n"
        "ldrd r9, r10, [r0], #8\n"
        ".irp number, r9, r10\n"
        "ubfx r11, \\number, #16, #11\n"
        "smlawb lr, r5, r11, r4\n"  // the upper 32 of 48 bits, plus r4
        "mla lr, r11, lr, r3\n"
        "lsr lr, lr, #11\n"
        "mls lr, r11, lr, r2\n"
        "lsr \\number, \\number, #27\n"
        "lsrs lr, lr, \\number\n"
        "adc \\number, lr, #0\n"
        ".endr\n"
        "pkhbt r9, r9, r10, lsl #16\n"
        "str r9, [r1], #8\n"
        "smlad r8, r9, r6, r8\n"
        ".endr\n"
        "cmp r0, r12\n"
        "bne 1b\n"
        : "+r"(from), "+r"(to), "+r"(sum)
        : [k0] "i"(exp2_c0 << 11 | 2047), [k1] "i"(exp2_c1 << 11 | 2047), [c2] "i"(exp2_c2), [k3] "i"(exp2_c3 << 5),
          [row] "i"(4 * integer_chunk), [small] "i"(small)
        : "r2", "r3", "r4", "r5", "r6", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
    return sum;
  }
};
