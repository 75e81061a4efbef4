// The softmax of integer attention for Helium, 4 lanes of 32 bits, and its outputs. In assembly r7 is saved, because compilers
// may keep the frame pointer in it.

struct IntegerHeliumSoftmax {
  using Tile = int32_t (*)[integer_chunk];

  ATTEND_HOT ATTEND_NOINLINE static int32_t largest(const int32_t* scores) {
    int32_t maximum = *scores;
    __asm__ volatile(
        ".rept %c[vectors]\n"
        "vldrw.u32 q0, [%[scores]], #16\n"
        "vmaxv.s32 %[maximum], q0\n"
        ".endr\n"
        : [maximum] "+r"(maximum), [scores] "+r"(scores)
        : [vectors] "i"(integer_chunk / 4)
        : "q0", "memory");
    return maximum;
  }

  static uint32_t weights(Tile tile, int row, int32_t largest, const core::ScoreScale& scale, uint32_t fraction) {
    return weights_of_row(tile[row], largest, scale, fraction);
  }

  // output_of and clamped, 4 columns at a time; the loop ends within a vector where the row does.
  ATTEND_HOT ATTEND_NOINLINE static void outputs(const int32_t* sums, const RowEnd& end, int count, int8_t* to) {
    __asm__ volatile(
        "vdup.32 q1, %[factor]\n"
        "dlstp.32 lr, %[count]\n"
        "1:\n"
        "vldrw.u32 q0, [%[sums]], #16\n"
        "vshl.s32 q0, %[left]\n"
        "vshr.s32 q0, q0, #1\n"
        "vsub.i32 q0, q0, %[zero]\n"
        "vmulh.s32 q0, q0, q1\n"
        "vrshl.s32 q0, %[right]\n"
        "vadd.i32 q0, q0, %[offset]\n"
        "vqmovnb.s32 q0, q0\n"
        "vqmovnb.s16 q0, q0\n"
        "vstrb.32 q0, [%[to]], #4\n"
        "letp lr, 1b\n"
        : [sums] "+r"(sums), [to] "+l"(to)
        : [factor] "r"(end.factor), [count] "r"(count), [left] "r"(end.left), [zero] "r"(end.zero), [right] "r"(-end.shift),
          [offset] "r"(end.offset)
        : "lr", "q0", "q1", "cc", "memory");
  }

 private:
  // c - ((x * power) >> 11) is ((c << 11) + 2047 - x * power) >> 11.
  static constexpr uint32_t before_shift(uint32_t coefficient) { return coefficient << 11 | 2047; }

  // The exponent has octaves, from 1 on, in 5 bits, and 2048ths of one in the next 11. It is taken with all bits inverted and
  // an octave more, so that the octaves are a shift to the right as they are, and 2047 less than the rest is -x.
  //   q0 exponents   q1 less the fraction   q2 power   q5 factor   q6 largest
  ATTEND_HOT ATTEND_NOINLINE static uint32_t weights_of_row(int32_t* scores, int32_t largest, const core::ScoreScale& scale,
                                                            uint32_t fraction) {
    static constexpr uint32_t coefficients[] = {exp2_c3, before_shift(exp2_c2), before_shift(exp2_c1), before_shift(exp2_c0)};
    register uint32_t left __asm__("r0") = 0u - uint32_t(scale.right);
    register uint32_t end __asm__("r1") = scale.end;
    register uint32_t begin __asm__("r2") = ~((fraction + 2048) << 16) + (1u << 27);
    register const uint32_t* from __asm__("r8") = coefficients;
    register int32_t* to __asm__("r9") = scores;
    register uint32_t sum __asm__("r10") = 0;
    register int32_t maximum __asm__("r11") = largest;
    register uint32_t factor __asm__("r12") = 0u - scale.factor;
    __asm__ volatile(
        "push {r0, r7}\n"
        "mov r7, r9\n"
        "ldm r8, {r3, r4, r5, r6}\n"
        "movw r8, #2047\n"
        "vdup.32 q6, r11\n"
        "vdup.32 q5, r12\n"
        "mov lr, %[rounds]\n"
        "dls lr, lr\n"
        "1:\n"
        ".rept 2\n"
        "vldrw.u32 q0, [r9], #16\n"
        "vsub.i32 q0, q6, q0\n"
        "vshl.u32 q0, r0\n"
        "vcmp.u32 cs, q0, r1\n"
        "vmlas.u32 q0, q5, r2\n"
        "vshl.i32 q1, q0, #5\n"
        "vshr.u32 q1, q1, #21\n"
        "vshr.s32 q0, q0, #27\n"
        "vsub.i32 q1, q1, r8\n"
        "vmul.i32 q2, q1, r3\n"
        "vadd.i32 q2, q2, r4\n"
        "vshr.u32 q2, q2, #11\n"
        "vmlas.u32 q2, q1, r5\n"
        "vshr.u32 q2, q2, #11\n"
        "vmlas.u32 q2, q1, r6\n"
        "vshr.u32 q2, q2, #11\n"
        "vrshl.u32 q2, q2, q0\n"
        "vpst\n"
        "vmovt.i32 q2, #0\n"
        "vaddva.u32 r10, q2\n"
        "vstrh.32 q2, [r7], #8\n"
        ".endr\n"
        "le lr, 1b\n"
        "pop {r0, r7}\n"
        : "+r"(to), "+r"(sum), "+r"(from)
        : "r"(left), "r"(end), "r"(begin), "r"(maximum), "r"(factor), [rounds] "i"(integer_chunk / 8)
        : "r3", "r4", "r5", "r6", "lr", "q0", "q1", "q2", "q5", "q6", "cc", "memory");
    return sum;
  }
};
