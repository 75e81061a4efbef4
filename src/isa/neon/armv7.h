// The operations of 32-bit Arm with NEON and VFPv4: 16 registers, and some instructions that compilers make no use of.

// Compilers take four bytes for each line of assembly as its length, by which they choose where constants lie near enough. What
// macros and repetitions expand to is longer by less than 96 lines, so that many are added that do nothing.
#define ATTEND_NEON_4_LINES ".p2align 0\n.p2align 0\n.p2align 0\n.p2align 0\n"
#define ATTEND_NEON_16_LINES ATTEND_NEON_4_LINES ATTEND_NEON_4_LINES ATTEND_NEON_4_LINES ATTEND_NEON_4_LINES
#define ATTEND_NEON_48_LINES ATTEND_NEON_16_LINES ATTEND_NEON_16_LINES ATTEND_NEON_16_LINES
#define ATTEND_NEON_LENGTH ATTEND_NEON_48_LINES ATTEND_NEON_48_LINES

// A macro of the assembler: two vectors of numbers as floats, in two neighbouring registers, which have four names d.
#define ATTEND_NEON_LOAD_PAIR                                \
  ".macro load_pair low, high, d0, d2, d3, address:vararg\n" \
  ".if %c[format] == 0\n" /* float */                        \
  "vld1.32 {\\d0-\\d3}, \\address\n"                         \
  ".elseif %c[format] == 1\n" /* Half */                     \
  "vld1.16 {\\d2-\\d3}, \\address\n"                         \
  "vcvt.f32.f16 \\low, \\d2\n"                               \
  "vcvt.f32.f16 \\high, \\d3\n"                              \
  ".elseif %c[format] == 2\n" /* Bfloat */                   \
  "vld1.16 {\\d2-\\d3}, \\address\n"                         \
  "vshll.i16 \\low, \\d2, #16\n"                             \
  "vshll.i16 \\high, \\d3, #16\n"                            \
  ".else\n" /* int8_t */                                     \
  "vld1.8 {\\d3}, \\address\n"                               \
  "vaddl.s8 \\high, \\d3, \\d3\n"                            \
  "vaddl.s16 \\low, \\d2, \\d2\n"                            \
  "vaddl.s16 \\high, \\d3, \\d3\n"                           \
  "vcvt.f32.s32 \\low, \\low, #2\n"                          \
  "vcvt.f32.s32 \\high, \\high, #2\n"                        \
  ".endif\n"                                                 \
  ".endm\n"

struct Neon32 : BySteps {
  using Vec = float32x4_t;

  static constexpr bool flushes = true;
  static bool has_below(const float* numbers, int count, uint32_t limit) {
    uint32x4_t found = vdupq_n_u32(0);
    for (; count >= 4; count -= 4, numbers += 4) {
      const uint32x4_t bits = vreinterpretq_u32_f32(vld1q_f32(numbers));
      found = vorrq_u32(found, vcltq_u32(vsubq_u32(vshlq_n_u32(bits, 1), vdupq_n_u32(1)), vdupq_n_u32(limit)));
    }
    const uint32x2_t two = vorr_u32(vget_low_u32(found), vget_high_u32(found));
    uint32_t any = vget_lane_u32(two, 0) | vget_lane_u32(two, 1);
    for (; count > 0; --count) any |= uint32_t((bits_to<uint32_t>(*numbers++) << 1) - 1 < limit);
    return any != 0;
  }

  // Tiles: 2 x 4 sums, or 1 x 8; the other 8 registers hold 4 factors of each row, a factor of each repeated, and 4 vectors.
  static constexpr int tile_rows = 4;
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left > 1 ? 2 : 1; }  // 2, 1
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows == 1 ? 8 : 4; }
  // of other formats
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return tile_vecs(rows); }
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int /*left*/) { return 1; }

  // Rows are not transposed for projections: the transpose of a panel takes all registers.

  // Of four rows of four floats: to[i] has column i.
  ATTEND_ALWAYS_INLINE static void columns_of(Vec r0, Vec r1, Vec r2, Vec r3, Vec (&to)[4]) {
    const float32x4x2_t low = vtrnq_f32(r0, r1), high = vtrnq_f32(r2, r3);
    to[0] = vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0]));
    to[1] = vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1]));
    to[2] = vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0]));
    to[3] = vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1]));
  }
  template <class Isa, class At, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void steps(At& at, int left, Vec (&sums)[rows][vecs]) {
    if constexpr (vecs >= 4 && rows * vecs <= 8) {
      // Opaque, or GCC computes what is left of it in advance.
      for (left = opaque(left); left >= 4; left = opaque(left - 4)) {
        at.template take<4>();
        four_steps({at.factors(0), at.factors(rows > 1 || (At::apart && vecs == 8) ? 1 : 0)}, {at.first(0), at.first(vecs - 4)},
                   at.stride, sums);
        at.advance(4);
      }
      for (; left > 0; --left) {
        at.step(0, sums);
        at.advance(1);
      }
    } else {
      BySteps::steps<Isa>(at, left, sums);
    }
  }
  template <class Isa, class At, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void value_steps(At& at, int keys, Vec (&sums)[rows][vecs]) {
    if constexpr (vecs >= 4 && rows * vecs <= 8) {
      steps<Isa>(at, keys, sums);
    } else {
      BySteps::value_steps<Isa>(at, keys, sums);
    }
  }

  // Compilers spill where a tile and what it is multiplied by take all 16 registers, and GCC 12 has no function that loads two
  // neighbouring ones, so these are assembly. The compiler chooses registers for the 8 sums. The others hold:
  //
  //   q10, q15   four factors of each row, or of each half of a row; d20, d21 and d30, d31
  //   q8, q9     this step's factor in all lanes
  //   q11 to q14 four vectors
  //
  // The text between .irp and .endr stands there five times: each time a step's multiply-adds, and between them, as soon as a
  // register is free, what the next step needs, because some processors start instructions in their order. The first time there
  // is no step yet, the last time none follows. `next` is where the next step's factors lie: d2\next and d3\next.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void four_steps(const float* const (&factors)[2], const Number* const (&vectors)[2],
                                              ptrdiff_t stride, Vec (&sums)[2][4]) {
    const Number* from = vectors[0];
    __asm__ volatile(
        ATTEND_NEON_LOAD_PAIR
        "vld1.32 {d20-d21}, [%[first]]\n"
        "vld1.32 {d30-d31}, [%[second]]\n"
        ".irp next, 0[0], 0[1], 1[0], 1[1], none\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[a0], q11, q8; vfma.f32 %q[b0], q11, q9\n"
        "vfma.f32 %q[a1], q12, q8; vfma.f32 %q[b1], q12, q9\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "load_pair q11, q12, d22, d24, d25, [%[from]]!\n"
        ".endif\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[a2], q13, q8; vfma.f32 %q[a3], q14, q8\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "vdup.32 q8, d2\\next\n"
        ".endif\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[b2], q13, q9; vfma.f32 %q[b3], q14, q9\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "vdup.32 q9, d3\\next\n"
        "load_pair q13, q14, d26, d28, d29, [%[from]], %[stride]\n"
        ".endif\n"
        ".endr\n"
        ".purgem load_pair\n" ATTEND_NEON_LENGTH
        : [from] "+r"(from), [a0] "+w"(sums[0][0]), [a1] "+w"(sums[0][1]), [a2] "+w"(sums[0][2]), [a3] "+w"(sums[0][3]),
          [b0] "+w"(sums[1][0]), [b1] "+w"(sums[1][1]), [b2] "+w"(sums[1][2]), [b3] "+w"(sums[1][3])
        : [first] "r"(factors[0]), [second] "r"(factors[1]), [stride] "r"(bytes_behind_pair<Number>(stride)),
          [format] "i"(format_of<Number>)
        : "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "memory");
  }

  template <class Number>
  ATTEND_ALWAYS_INLINE static void four_steps(const float* const (&factors)[2], const Number* const (&vectors)[2],
                                              ptrdiff_t stride, Vec (&sums)[1][8]) {
    const Number *from = vectors[0], *other = vectors[1];
    __asm__ volatile(
        ATTEND_NEON_LOAD_PAIR
        "vld1.32 {d20-d21}, [%[first]]\n"
        "vld1.32 {d30-d31}, [%[second]]\n"
        ".irp next, 0[0], 0[1], 1[0], 1[1], none\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[a0], q11, q8; vfma.f32 %q[a1], q12, q8\n"
        "load_pair q11, q12, d22, d24, d25, [%[other]]!\n"
        "vfma.f32 %q[a2], q13, q8; vfma.f32 %q[a3], q14, q8\n"
        "load_pair q13, q14, d26, d28, d29, [%[other]], %[stride]\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "vdup.32 q8, d2\\next\n"
        ".endif\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[b0], q11, q9; vfma.f32 %q[b1], q12, q9\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "load_pair q11, q12, d22, d24, d25, [%[from]]!\n"
        ".endif\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[b2], q13, q9; vfma.f32 %q[b3], q14, q9\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "vdup.32 q9, d3\\next\n"
        "load_pair q13, q14, d26, d28, d29, [%[from]], %[stride]\n"
        ".endif\n"
        ".endr\n"
        ".purgem load_pair\n" ATTEND_NEON_LENGTH
        : [from] "+r"(from), [other] "+r"(other), [a0] "+w"(sums[0][0]), [a1] "+w"(sums[0][1]), [a2] "+w"(sums[0][2]),
          [a3] "+w"(sums[0][3]), [b0] "+w"(sums[0][4]), [b1] "+w"(sums[0][5]), [b2] "+w"(sums[0][6]), [b3] "+w"(sums[0][7])
        : [first] "r"(factors[0]), [second] "r"(factors[1]), [stride] "r"(bytes_behind_pair<Number>(stride)),
          [format] "i"(format_of<Number>)
        : "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "memory");
  }

  template <class Number>
  ATTEND_ALWAYS_INLINE static void four_steps(const float* const (&factors)[2], const Number* const (&vectors)[2],
                                              ptrdiff_t stride, Vec (&sums)[1][4]) {
    const Number* from = vectors[0];
    __asm__ volatile(
        ATTEND_NEON_LOAD_PAIR
        "vld1.32 {d20-d21}, [%[factors]]\n"
        ".irp next, 0[0], 0[1], 1[0], 1[1], none\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[a0], q11, q8; vfma.f32 %q[a1], q12, q8\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "load_pair q11, q12, d22, d24, d25, [%[from]]!\n"
        ".endif\n"
        ".ifnc \\next, 0[0]\n"
        "vfma.f32 %q[a2], q13, q8; vfma.f32 %q[a3], q14, q8\n"
        ".endif\n"
        ".ifnc \\next, none\n"
        "vdup.32 q8, d2\\next\n"
        "load_pair q13, q14, d26, d28, d29, [%[from]], %[stride]\n"
        ".endif\n"
        ".endr\n"
        ".purgem load_pair\n" ATTEND_NEON_LENGTH
        : [from] "+r"(from), [a0] "+x"(sums[0][0]), [a1] "+x"(sums[0][1]), [a2] "+x"(sums[0][2]), [a3] "+x"(sums[0][3])
        : [factors] "r"(factors[0]), [stride] "r"(bytes_behind_pair<Number>(stride)), [format] "i"(format_of<Number>)
        : "q8", "q10", "q11", "q12", "q13", "q14", "memory");
  }

  static constexpr bool weighs_rows = true;

  // Replaces `count` scores of a row, whole panels of them, by their weights, and adds these to the 16 sums of its denominator.
  // The scores may lie where the sums will.
  //   lowest  of score + whole_shift where there is a weight: RowMaximum::lowest_shifted
  //   begun   whether the sums hold anything
  ATTEND_ALWAYS_INLINE static void weights_of_panels(float* scores, int count, float lowest, bool begun, float* lane_sums) {
    static constexpr float none[panel_keys] = {};
    const Vec shift = vdupq_n_f32(whole_shift), lowest_shifted = vdupq_n_f32(lowest);
    const float bias = bits_to<float>((2u - bits_to<uint32_t>(lowest)) << 23);  // 127 - max, and lowest is max - 125
    const float* sums = begun ? lane_sums : none;
    for (const float* const end = scores + count; scores < end; scores += panel_keys) {
      panel_weights(scores, shift, lowest_shifted, bias, sums, lane_sums);
      sums = lane_sums;
    }
  }

  // Of one panel: lane_sums = sums + its weights.
  //
  // Four vectors go through the polynomial side by side. A multiply-add overwrites what it adds to, so each takes a copy of its
  // coefficient, and the last one the register that it was loaded to.
  ATTEND_ALWAYS_INLINE static void panel_weights(float* scores, Vec shift, Vec lowest, float bias, const float* sums,
                                                 float* lane_sums) {
    const float *from = scores, *coefficient = exp2_coefficients;
    __asm__ volatile(
        ".macro polynomial_step g0, g1, g2, g3, free, c, c_low, c_high\n"
        "vld1.32 {\\c_low[], \\c_high[]}, [%[coefficient]]!\n"
        "vmov \\free, \\c; vfma.f32 \\free, \\g0, q0\n"
        "vmov \\g0, \\c; vfma.f32 \\g0, \\g1, q1\n"
        "vmov \\g1, \\c; vfma.f32 \\g1, \\g2, q2\n"
        "vfma.f32 \\c, \\g3, q3\n"
        ".endm\n"
        "vld1.32 {d0-d3}, [%[from]]!\n"
        "vld1.32 {d4-d7}, [%[from]]\n"
        "vld1.32 {d16[], d17[]}, [%[coefficient]]!\n"
        "vadd.f32 q4, q0, %q[shift]; vadd.f32 q5, q1, %q[shift]\n"
        "vadd.f32 q6, q2, %q[shift]; vadd.f32 q7, q3, %q[shift]\n"
        "vld1.32 {d18[], d19[]}, [%[coefficient]]!\n"
        "vsub.f32 q10, q4, %q[shift]; vsub.f32 q11, q5, %q[shift]\n"
        "vsub.f32 q12, q6, %q[shift]; vsub.f32 q13, q7, %q[shift]\n"
        "vsub.f32 q0, q0, q10; vsub.f32 q1, q1, q11\n"
        "vsub.f32 q2, q2, q12; vsub.f32 q3, q3, q13\n"
        "vmov q10, q9; vmov q11, q9; vmov q12, q9\n"
        "vfma.f32 q9, q8, q0; vfma.f32 q10, q8, q1\n"
        "vfma.f32 q11, q8, q2; vfma.f32 q12, q8, q3\n"
        "polynomial_step q9, q10, q11, q12, q8, q13, d26, d27\n"
        "polynomial_step q8, q9, q10, q13, q11, q12, d24, d25\n"
        "polynomial_step q11, q8, q9, q12, q10, q13, d26, d27\n"
        "polynomial_step q10, q11, q8, q13, q9, q12, d24, d25\n"
        "polynomial_step q9, q10, q11, q12, q8, q13, d26, d27\n"
        "vdup.32 q12, %[bias]\n"
        "vcgt.f32 q0, %q[lowest], q4; vcgt.f32 q1, %q[lowest], q5\n"
        "vcgt.f32 q2, %q[lowest], q6; vcgt.f32 q3, %q[lowest], q7\n"
        "vshl.i32 q4, q4, #23; vshl.i32 q5, q5, #23; vshl.i32 q6, q6, #23; vshl.i32 q7, q7, #23\n"
        "vadd.i32 q4, q4, q12; vadd.i32 q5, q5, q12; vadd.i32 q6, q6, q12; vadd.i32 q7, q7, q12\n"
        "vmul.f32 q4, q8, q4; vmul.f32 q5, q9, q5; vmul.f32 q6, q10, q6; vmul.f32 q7, q13, q7\n"
        "vld1.32 {d16-d19}, [%[sums]]!\n"
        "vbic q4, q4, q0; vbic q5, q5, q1; vbic q6, q6, q2; vbic q7, q7, q3\n"
        "vld1.32 {d20-d23}, [%[sums]]\n"
        "vadd.f32 q8, q8, q4; vadd.f32 q9, q9, q5; vadd.f32 q10, q10, q6; vadd.f32 q11, q11, q7\n"
        "vst1.32 {d8-d11}, [%[scores]]!\n"
        "vst1.32 {d12-d15}, [%[scores]]\n"
        "vst1.32 {d16-d19}, [%[lane_sums]]!\n"
        "vst1.32 {d20-d23}, [%[lane_sums]]\n"
        ".purgem polynomial_step\n" ATTEND_NEON_LENGTH
        : [scores] "+r"(scores), [from] "+r"(from), [lane_sums] "+r"(lane_sums), [sums] "+r"(sums),
          [coefficient] "+r"(coefficient)
        : [shift] "w"(shift), [lowest] "w"(lowest), [bias] "r"(bias)
        : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "memory");
  }

  // Every processor with VFPv4 has the conversion. The intrinsic function needs a type that GCC has only with a flag.
  static Vec widened(uint16x4_t halves) {
    Vec wide;
    __asm__("vcvt.f32.f16 %q0, %P1" : "=w"(wide) : "w"(halves));
    return wide;
  }

  // All bits of a lane where it holds. GCC takes the lanes of the intrinsic functions apart and compares them one by one,
  // because the vector instructions flush subnormal numbers.
#if defined(__clang__)
  static uint32x4_t above(Vec a, Vec b) { return vcgtq_f32(a, b); }
  static uint32x4_t equal(Vec a, Vec b) { return vceqq_f32(a, b); }
#else
  static uint32x4_t above(Vec a, Vec b) {
    uint32x4_t mask;
    __asm__("vcgt.f32 %q0, %q1, %q2" : "=w"(mask) : "w"(a), "w"(b));
    return mask;
  }
  static uint32x4_t equal(Vec a, Vec b) {
    uint32x4_t mask;
    __asm__("vceq.f32 %q0, %q1, %q2" : "=w"(mask) : "w"(a), "w"(b));
    return mask;
  }
#endif

  static Vec higher(Vec a, Vec b) { return vbslq_f32(above(b, a), b, a); }

 private:
  template <class Number>
  static constexpr int format_of = -1;

  // From behind the first two of four vectors to the next step.
  template <class Number>
  static ptrdiff_t bytes_behind_pair(ptrdiff_t stride) {
    return (stride - 8) * ptrdiff_t(sizeof(Number));
  }
};
template <>
constexpr int Neon32::format_of<float> = 0;
template <>
constexpr int Neon32::format_of<Half> = 1;
template <>
constexpr int Neon32::format_of<Bfloat> = 2;
template <>
constexpr int Neon32::format_of<int8_t> = 3;

#undef ATTEND_NEON_LENGTH
#undef ATTEND_NEON_48_LINES
#undef ATTEND_NEON_16_LINES
#undef ATTEND_NEON_4_LINES
#undef ATTEND_NEON_LOAD_PAIR
