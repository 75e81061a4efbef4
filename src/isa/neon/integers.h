// The kernels of integer attention on Arm's NEON. A build has dot products of 8 bits where its flags allow them, for example
// -march=armv8.2-a+dotprod or -mcpu=neoverse-n1; other builds widen to 16 bits. Big-endian processors take
// the kernels in plain C++.

struct IntegerNeon : IntegerNeonProducts {
  static constexpr int in_place_step = 16;
  static constexpr bool reads_quads = false;

  static constexpr bool packs = true;

  template <int rows>
  static void scores(const Query* const* query, const int8_t* keys, int head_dim, int32_t (*scores)[integer_chunk]) {
    score_tile<rows, false>(query, keys, head_dim, scores);
  }
  // The same of a chunk in quads, [quads of dimensions][32 keys][4 dimensions].
  template <int rows>
  static void quad_scores(const Query* const* query, const int8_t* quads, int head_dim, int32_t (*scores)[integer_chunk]) {
    score_tile<rows, true>(query, quads, head_dim, scores);
  }

  static int32_t largest(const int32_t* scores) {
    int32x4_t maximum = load<int32x4_t>(scores);
    ATTEND_UNROLL
    for (int k = 4; k < integer_chunk; k += 4) maximum = vmaxq_s32(maximum, load<int32x4_t>(scores + k));
    const int32x2_t two = vmax_s32(vget_low_s32(maximum), vget_high_s32(maximum));
    return vget_lane_s32(vpmax_s32(two, two), 0);
  }

  // Where a row's weight of a key lies in a tile whose scores have become weights.
  using Weight = int16_t __attribute__((may_alias));
  static Weight* weight(int32_t (*tile)[integer_chunk], int row, int key) { return reinterpret_cast<Weight*>(tile[row]) + key; }

  // Weights lie where scores did, before the scores that are still to be read.
  static uint32_t weights(int32_t (*tile)[integer_chunk], int row, int32_t largest, const core::ScoreScale& scale,
                          uint32_t fraction) {
    uint32x4_t sums = vdupq_n_u32(0);
    ATTEND_UNROLL
    for (int k = 0; k < integer_chunk; k += 8) {
      const uint16x8_t weights = weights_of(tile[row] + k, largest, scale, fraction);
      store(tile[row] + k / 2, weights);
      sums = vpadalq_u16(sums, weights);
    }
    const uint32x2_t two = vadd_u32(vget_low_u32(sums), vget_high_u32(sums));
    return vget_lane_u32(vpadd_u32(two, two), 0);
  }

  // What the weights of rows are relative to, their weights, and how these are added, one row after the other.
  template <int rows>
  static ATTEND_ALWAYS_INLINE void references(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& to) {
    for (int r = 0; r < rows; ++r) {
      to.largest[r] = largest(tile[r]);
      const Reference reference = reference_of(to.largest[r], scales[r]);
      to.exponent[r] = reference.exponent;
      to.fractions[r] = twice(reference.fraction);
    }
  }
  template <int rows>
  static ATTEND_ALWAYS_INLINE void weights(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& by) {
    for (int r = 0; r < rows; ++r) by.sum[r] = weights(tile, r, by.largest[r], scales[r], by.fractions[r] & 0xffffu);
  }
  template <int rows>
  static ATTEND_ALWAYS_INLINE void merge(RowWeights& weights, IntegerSoftmaxState* states, RowMerges& to) {
    for (int r = 0; r < rows; ++r) to.set(r, merge_scaled(states[r], weights.exponent[r], weights.sum[r], 8));
  }
  static ATTEND_ALWAYS_INLINE void merge_chunks(const RowWeights& weights, IntegerSoftmaxState& state, RowMerges& to) {
    for (int i = 0; i < 8; ++i) to.set(i, merge_scaled(state, weights.exponent[i], weights.sum[i], 8));
  }

  // As values(), for one row, whose values are read where they lie.
  static void values_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width, const Merge& merge,
                              int32_t* sums) {
    for (int c = 0; c < width; c += 16) {
      int32x4_t added[4];
      for (int i = 0; i < 4; ++i) added[i] = vdupq_n_s32(0);
      for (int k = 0; k < integer_chunk; k += 4) {
        const int16x4_t four = load<int16x4_t>(weights + k / 2);
        int16x8_t low[4], high[4];
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int8x16_t value = load<int8x16_t>(values + (k + i) * stride + c);
          low[i] = vmovl_s8(vget_low_s8(value));
          high[i] = vmovl_s8(vget_high_s8(value));
        }
        add_products<0>(added, low[0], high[0], four);
        add_products<1>(added, low[1], high[1], four);
        add_products<2>(added, low[2], high[2], four);
        add_products<3>(added, low[3], high[3], four);
      }
      merge_columns(added, merge, sums + c, width - c);
    }
  }

  // integer_output of outputs k … k + 7 of each token.
  template <class Output>
  static ATTEND_ALWAYS_INLINE void eight_outputs(const ProjectionEnd& of, int k, Output* to, ptrdiff_t to_stride) {
    int32x2_t factors[4], starts[4];
    int64x2_t shifts[4];
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const core::IntegerMultiplier* const by = of.by + (k + 2 * i) * of.stride;
      const int32x2x2_t two = vtrn_s32(load<int32x2_t>(by), load<int32x2_t>(by + of.stride));
      factors[i] = two.val[0];
      shifts[i] = vmovl_s32(vneg_s32(two.val[1]));
      const int32x2_t weights = load<int32x2_t>(static_cast<const char*>(of.weight_sums) + 4 * (k + 2 * i));
      const int32x2_t bias = of.bias == nullptr ? vdup_n_s32(0) : load<int32x2_t>(of.bias + k + 2 * i);
      starts[i] = vmls_s32(bias, weights, vdup_n_s32(of.input_zero));
    }
    for (int t = 0; t < of.tokens; ++t, to += to_stride) {
      int32x2_t two[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int32x2_t sums = vadd_s32(load<int32x2_t>(of.sums[t] + k + 2 * i), starts[i]);
        two[i] = vqmovn_s64(vaddq_s64(vrshlq_s64(vmull_s32(sums, factors[i]), shifts[i]), vdupq_n_s64(of.output_zero)));
      }
      const int16x8_t eight = vcombine_s16(vqmovn_s32(vcombine_s32(two[0], two[1])), vqmovn_s32(vcombine_s32(two[2], two[3])));
      if constexpr (sizeof(Output) == 1) {
        store(to, vqmovn_s16(eight));
      } else {
        store(to, eight);
      }
    }
  }

  // output_of and clamped, 8 columns at a time.
  static void outputs(const int32_t* sums, const RowEnd& end, int count, int8_t* to) {
    int c = 0;
    for (; c + 8 <= count; c += 8) {
      const int16x4_t low = vqmovn_s32(outputs_of(sums + c, end)), high = vqmovn_s32(outputs_of(sums + c + 4, end));
      store(to + c, vqmovn_s16(vcombine_s16(low, high)));
    }
    for (; c < count; ++c) to[c] = int8_t(clamped(output_of(sums[c], end), -128, 127));
  }

 private:
  template <int rows, bool in_quads>
  static ATTEND_ALWAYS_INLINE void score_tile(const Query* const* query, const int8_t* keys, int head_dim,
                                              int32_t (*scores)[integer_chunk]) {
    const int groups = (head_dim + 3) / 4;
    for (int half = 0; half < integer_chunk; half += 16, keys += in_quads ? 64 : groups * 64) {
      int32x4_t sums[rows][4];
      clear(sums);
      add<rows, in_quads>(query, keys, groups, sums);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) store(scores[r] + half + 4 * i, sums[r][i]);
      }
    }
  }

  static ATTEND_ALWAYS_INLINE int32x4_t outputs_of(const int32_t* sums, const RowEnd& end) {
    const int32x4_t shifted = vshrq_n_s32(vshlq_s32(load<int32x4_t>(sums), vdupq_n_s32(end.left)), 1);
    const int32x4_t aligned = vsubq_s32(shifted, vdupq_n_s32(end.zero));
    const int32x2_t factor = vdup_n_s32(end.factor);
    const int32x4_t number = vcombine_s32(vshrn_n_s64(vmull_s32(vget_low_s32(aligned), factor), 32),
                                          vshrn_n_s64(vmull_s32(vget_high_s32(aligned), factor), 32));
    return vaddq_s32(vrshlq_s32(number, vdupq_n_s32(-end.shift)), vdupq_n_s32(end.offset));
  }

  // The distances of four scores from the largest, shifted to the right. One of more than 16 bits is past `end` anyway.
  static ATTEND_ALWAYS_INLINE uint16x4_t distances(const int32_t* scores, int32_t largest, const core::ScoreScale& scale) {
    const int32x4_t below = vsubq_s32(vdupq_n_s32(largest), load<int32x4_t>(scores));
    return vqmovn_u32(vshlq_u32(vreinterpretq_u32_s32(below), vdupq_n_s32(-scale.right)));
  }

  // (a * b) >> bits
  template <int bits>
  static ATTEND_ALWAYS_INLINE uint16x8_t product(uint16x8_t a, uint16x8_t b) {
    return vcombine_u16(vshrn_n_u32(vmull_u16(vget_low_u16(a), vget_low_u16(b)), bits),
                        vshrn_n_u32(vmull_u16(vget_high_u16(a), vget_high_u16(b)), bits));
  }
  static ATTEND_ALWAYS_INLINE uint16x8_t number(uint32_t a) { return vdupq_n_u16(uint16_t(a)); }

  // weight_of of 8 keys.
  static ATTEND_ALWAYS_INLINE uint16x8_t weights_of(const int32_t* scores, int32_t largest, const core::ScoreScale& scale,
                                                    uint32_t fraction) {
    const uint16x8_t end = number(scale.end);
    const uint16x8_t distance =
        vminq_u16(vcombine_u16(distances(scores, largest, scale), distances(scores + 4, largest, scale)), end);
    const uint16x8_t steps = vshlq_u16(distance, vdupq_n_s16(int16_t(scale.left)));
    const uint16x8_t t = vaddq_u16(product<16>(steps, number(scale.factor >> scale.left)), number(fraction));
    const uint16x8_t x = vandq_u16(t, number(2047));
    uint16x8_t power = vsubq_u16(number(exp2_c2), product<weight_octave_bits>(x, number(exp2_c3)));
    power = vsubq_u16(number(exp2_c1), product<weight_octave_bits>(x, power));
    power = vsubq_u16(number(exp2_c0), product<weight_octave_bits>(x, power));
    // A shift by n to the right, one added, and a shift by 1 are one rounded shift by n + 1, to the left by ~n.
    const int16x8_t n = vreinterpretq_s16_u16(vshrq_n_u16(t, weight_octave_bits));
    return vandq_u16(vrshlq_u16(power, vmvnq_s16(n)), vcltq_u16(distance, end));
  }
};
