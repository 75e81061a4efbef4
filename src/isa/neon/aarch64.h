// The operations of AArch64 that 32-bit Arm lacks: 32 registers, multiply-adds by lane, and instructions for half of what takes
// several there.

struct Neon64 : Neon64Rows, ByChains<6, 4, ChainEnds::stored> {
  // Tiles by steps (whole chains: chain.h): 6 x 4 sums, the factors of 6 rows and 2 vectors fill all 32 registers.
  static constexpr int tile_rows = 6;
  // 6, 4, 3, 2, 1. The 8 rows of a block over one chain, without options, go as 4 and 4; other blocks are cut into tiles of 6
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left >= 6 && left != 8 ? 6 : left > 3 ? 4 : left; }
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows == 1 ? 8 : 4; }
  // of other formats
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return tile_vecs(rows); }
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) { return kernel_rows(left); }
  // Not where the first byte is the high one: as in add_four.
  static constexpr bool weighs_rows = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

#ifdef ATTEND_WHOLE_CHAINS
  // Two vectors at a time.
  ATTEND_ALWAYS_INLINE static void score_chains(const float* query, ptrdiff_t stride, const float* panels,
                                                ptrdiff_t /*panel_stride*/, int chains, float* to, ptrdiff_t to_stride,
                                                bool adds) {
    for (int k = 0; k < panel_keys; k += panel_keys / 2) {
      query = opaque(query),
      to = opaque(to);  // or the pointers of all rows are kept for the second time, in a caller's registers
      score_chains_of_eight(query, stride, panels + k, chains, to + k, to_stride, adds);
    }
  }
  ATTEND_ALWAYS_INLINE static void value_chain(const float* weights, ptrdiff_t stride, const float* values,
                                               ptrdiff_t value_stride, int keys, float* to, ptrdiff_t to_stride, bool adds) {
    for (int c = 0; c < panel_keys; c += panel_keys / 2) {
      weights = opaque(weights), values = opaque(values);
      value_chain_of_eight(weights, stride, values + c, value_stride, keys, to + c, to_stride, adds);
    }
  }
#endif

  // Chains of floats whose vectors are whole fours begin with a product, and end four vectors at a time. Where there are fewer
  // vectors, or numbers are widened, that would be more code for what is seldom or bound by other instructions.
  template <class Number>
  static constexpr bool takes_fours(int vecs) {
    return sizeof(Number) == sizeof(float) && vecs % 4 == 0;
  }
  template <class Isa, class At, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void steps(At& at, int left, Vec (&sums)[rows][vecs]) {
    if (takes_fours<typename At::Numbers>(vecs) && !At::apart && left >= 4) {
      lane_steps<Isa, 4, true>(at, sums);
      left -= 4;
    }
    for (; left >= 4; left -= 4) lane_steps<Isa, 4>(at, sums);
    for (; left > 0; --left) lane_steps<Isa, 1>(at, sums);
  }
  template <class Isa, class At, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void value_steps(At& at, int keys, Vec (&sums)[rows][vecs]) {
    if constexpr (vecs > 1) {
      steps<Isa>(at, keys, sums);
    } else {
      BySteps::value_steps<Isa>(at, keys, sums);
    }
  }
  template <int vecs>
  ATTEND_ALWAYS_INLINE static bool end_row(const Vec (&sums)[vecs], float* to, bool adds) {
    ATTEND_UNROLL
    for (int v = 0; v + 4 <= vecs; v += 4) {
      if (adds) {
        add_four(sums + v, to + 4 * v);
      } else {
        store_four(sums + v, to + 4 * v);
      }
    }
    return takes_fours<float>(vecs);
  }

  // Rows of weights are prefetched where it was measured, on x86. 32 registers hold the addresses of a projection.
  static constexpr int rows_ahead = 0;
  static constexpr int row_tokens(int /*bytes*/) { return 3; }
  template <class Isa, int c>
  ATTEND_ALWAYS_INLINE static Vec add_column(const float* inputs, Vec column, Vec sum) {
    return fma_lane<c>(vld1q_f32(inputs), column, sum);
  }
  template <class Pointer>
  ATTEND_ALWAYS_INLINE static Pointer anew(Pointer pointer) {
    return pointer;
  }

  template <class Isa, int rows>
  ATTEND_ALWAYS_INLINE static void highest_of_rows(const float* scores, ptrdiff_t stride, int count, Vec (&highest)[rows]) {
    if constexpr (weighs_rows && rows == tile_rows) {
      highest_of_six(scores, stride, count, highest);
    } else {
      BySteps::highest_of_rows<Isa>(scores, stride, count, highest);
    }
  }

  // With the intrinsic function GCC starts multiply-adds and loads in another order, for which 32 registers are too few, and
  // spills sums of the largest tile. It keeps assembly where it is.
  template <int lane>
  static Vec fma_lane(Vec factors, Vec b, Vec c) {
#if defined(__clang__)
    return vfmaq_laneq_f32(c, b, factors, lane);
#else
    __asm__("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(c) : "w"(b), "w"(factors), "i"(lane));
    return c;
#endif
  }

  template <int lane>
  static Vec mul_lane(Vec factors, Vec b) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__  // as in add_four
    return fma_lane<lane>(factors, b, vdupq_n_f32(0.0f));
#elif defined(__clang__)
    return vmulq_laneq_f32(b, factors, lane);
#else
    Vec product;
    __asm__("fmul %0.4s, %1.4s, %2.s[%c3]" : "=w"(product) : "w"(b), "w"(factors), "i"(lane));
    return product;
#endif
  }

  // In assembly, because a load and a store of four want neighbouring registers, where sums hardly are.
  // Where the first byte is the high one, Clang may keep lanes in another order than these instructions read them in.
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  static void add_four(const Vec* sums, float* to) {
    for (int v = 0; v < 4; ++v) vst1q_f32(to + 4 * v, vaddq_f32(vld1q_f32(to + 4 * v), sums[v]));
  }
  static void store_four(const Vec* sums, float* to) {
    for (int v = 0; v < 4; ++v) vst1q_f32(to + 4 * v, vaddq_f32(sums[v], vdupq_n_f32(0.0f)));
  }
#else
  static void add_four(const Vec* sums, float* to) {
    __asm__(
        "ld1 {v28.4s-v31.4s}, [%1]\n"
        "fadd v28.4s, v28.4s, %2.4s\n"
        "fadd v29.4s, v29.4s, %3.4s\n"
        "fadd v30.4s, v30.4s, %4.4s\n"
        "fadd v31.4s, v31.4s, %5.4s\n"
        "st1 {v28.4s-v31.4s}, [%1]"
        : "+m"(*reinterpret_cast<float(*)[16]>(to))
        : "r"(to), "w"(sums[0]), "w"(sums[1]), "w"(sums[2]), "w"(sums[3])
        : "v28", "v29", "v30", "v31");
  }
  static void store_four(const Vec* sums, float* to) {
    __asm__(
        "fadd v28.4s, %2.4s, %6.4s\n"
        "fadd v29.4s, %3.4s, %6.4s\n"
        "fadd v30.4s, %4.4s, %6.4s\n"
        "fadd v31.4s, %5.4s, %6.4s\n"
        "st1 {v28.4s-v31.4s}, [%1]"
        : "=m"(*reinterpret_cast<float(*)[16]>(to))
        : "r"(to), "w"(sums[0]), "w"(sums[1]), "w"(sums[2]), "w"(sums[3]), "w"(vdupq_n_f32(0.0f))
        : "v28", "v29", "v30", "v31");
  }
#endif

  // Clang would make the loads of several steps first. GCC does not, and would copy a.
  static void compute_before_loads([[maybe_unused]] Vec& a) {
#if defined(__clang__)
    __asm__ volatile("" : "+w"(a) : : "memory");
#else
    __asm__ volatile("" : : : "memory");
#endif
  }

  // Four vectors that lie side by side.
  static void load_four(const float* from, Vec (&to)[4]) {
    const float32x4x4_t four = vld1q_f32_x4(from);
    to[0] = four.val[0];
    to[1] = four.val[1];
    to[2] = four.val[2];
    to[3] = four.val[3];
  }
  static void load_four(const Half* from, Vec (&to)[4]) {
    const uint16x8x2_t bits = vld1q_u16_x2(reinterpret_cast<const uint16_t*>(from));
    const float16x8_t low = vreinterpretq_f16_u16(bits.val[0]), high = vreinterpretq_f16_u16(bits.val[1]);
    to[0] = vcvt_f32_f16(vget_low_f16(low));
    to[1] = vcvt_high_f32_f16(low);
    to[2] = vcvt_f32_f16(vget_low_f16(high));
    to[3] = vcvt_high_f32_f16(high);
  }
  static void load_four(const Bfloat* from, Vec (&to)[4]) {
    const uint16x8x2_t bits = vld1q_u16_x2(reinterpret_cast<const uint16_t*>(from));
    to[0] = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits.val[0]), 16));
    to[1] = vreinterpretq_f32_u32(vshll_high_n_u16(bits.val[0], 16));
    to[2] = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits.val[1]), 16));
    to[3] = vreinterpretq_f32_u32(vshll_high_n_u16(bits.val[1], 16));
  }
  static void load_four(const int8_t* from, Vec (&to)[4]) {
    const int8x16_t bytes = vld1q_s8(from);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
    to[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(low)));
    to[1] = vcvtq_f32_s32(vmovl_high_s16(low));
    to[2] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(high)));
    to[3] = vcvtq_f32_s32(vmovl_high_s16(high));
  }

  // In assembly, because compilers make two instructions of it.
  static void load_each_of_four(const float* from, Vec (&to)[4]) {
#ifdef ATTEND_WHOLE_CHAINS
    __asm__(
        "ldur %q0, [%4]\n"
        "ldur %q1, [%4, #16]\n"
        "ldur %q2, [%4, #32]\n"
        "ldur %q3, [%4, #48]"
        : "=&w"(to[0]), "=&w"(to[1]), "=&w"(to[2]), "=w"(to[3])
        : "r"(from), "m"(*reinterpret_cast<const float(*)[16]>(from)));
#else
    load_four(from, to);
#endif
  }

  // Of four rows of four floats: to[i] has column i. Halves are named as floats of 64 bits, or GCC moves them one by one.
  ATTEND_ALWAYS_INLINE static void columns_of(Vec r0, Vec r1, Vec r2, Vec r3, Vec (&to)[4]) {
    const auto wide = [](Vec a) ATTEND_INLINE_LAMBDA { return vreinterpretq_f64_f32(a); };
    const float64x2_t even01 = wide(vtrn1q_f32(r0, r1)), odd01 = wide(vtrn2q_f32(r0, r1));
    const float64x2_t even23 = wide(vtrn1q_f32(r2, r3)), odd23 = wide(vtrn2q_f32(r2, r3));
    to[0] = vreinterpretq_f32_f64(vtrn1q_f64(even01, even23));
    to[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd01, odd23));
    to[2] = vreinterpretq_f32_f64(vtrn2q_f64(even01, even23));
    to[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd01, odd23));
  }

  // to[16 i + j] = rows[stride j + i] for 16 rows of 16 bytes: each step brings elements of vectors side by side that are half
  // as many apart as there are.
  static constexpr bool transposes_rows = true;
  static void transpose_rows(const Half* rows, ptrdiff_t stride, Half* to) { transpose_words(rows, stride, to); }
  static void transpose_rows(const Bfloat* rows, ptrdiff_t stride, Bfloat* to) { transpose_words(rows, stride, to); }
  static void transpose_rows(const int8_t* rows, ptrdiff_t stride, int8_t* to) {
    int8x16_t columns[16];
    ATTEND_UNROLL
    for (int j = 0; j < 16; ++j) columns[j] = vld1q_s8(rows + j * stride);
    ATTEND_UNROLL
    for (int step = 0; step < 4; ++step) {
      int8x16_t next[16];
      ATTEND_UNROLL
      for (int j = 0; j < 8; ++j) {
        next[2 * j] = vzip1q_s8(columns[j], columns[j + 8]);
        next[2 * j + 1] = vzip2q_s8(columns[j], columns[j + 8]);
      }
      ATTEND_UNROLL
      for (int j = 0; j < 16; ++j) columns[j] = next[j];
    }
    ATTEND_UNROLL
    for (int i = 0; i < 16; ++i) vst1q_s8(to + 16 * i, columns[i]);
  }

  static Vec widened(uint16x4_t halves) { return vcvt_f32_f16(vreinterpret_f16_u16(halves)); }

  // All bits of a lane where it holds.
  static uint32x4_t above(Vec a, Vec b) { return vcgtq_f32(a, b); }
  static uint32x4_t equal(Vec a, Vec b) { return vceqq_f32(a, b); }

 private:
  // The next steps of a tile, 1 or 4.
  template <class Isa, int steps, bool begins = false, class At, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void lane_steps(At& at, Vec (&sums)[rows][vecs]) {
    at.template take<steps>();
    const At now = at;  // or Clang keeps two copies of a pointer in the loop
    multiply_by_lanes<Isa, steps, At::apart, begins>([&](int r) ATTEND_INLINE_LAMBDA { return now.factors(r); },
                                                     [&](int i, int v) ATTEND_INLINE_LAMBDA { return now.vectors(i, v); },
                                                     sums);
    at.advance(steps);
  }
  template <class Number>
  static void transpose_words(const Number* from, ptrdiff_t stride, Number* to) {
    const uint16_t* rows = reinterpret_cast<const uint16_t*>(from);
    for (int half = 0; half < 16; half += 8, rows += 8 * stride) {
      uint16x8_t columns[8];
      ATTEND_UNROLL
      for (int j = 0; j < 8; ++j) columns[j] = vld1q_u16(rows + j * stride);
      ATTEND_UNROLL
      for (int step = 0; step < 3; ++step) {
        uint16x8_t next[8];
        ATTEND_UNROLL
        for (int j = 0; j < 4; ++j) {
          next[2 * j] = vzip1q_u16(columns[j], columns[j + 4]);
          next[2 * j + 1] = vzip2q_u16(columns[j], columns[j + 4]);
        }
        ATTEND_UNROLL
        for (int j = 0; j < 8; ++j) columns[j] = next[j];
      }
      ATTEND_UNROLL
      for (int i = 0; i < 8; ++i) vst1q_u16(reinterpret_cast<uint16_t*>(to) + 16 * i + half, columns[i]);
    }
  }
};
