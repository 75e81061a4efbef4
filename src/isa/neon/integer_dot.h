// Products of integer attention by SDOT, which adds four products of 8 bits to each lane. A chunk lies as
//
//   keys    [2 halves][groups of 4 dimensions][16 keys][4 dimensions]
//   values  [blocks of 16 columns]: [8 groups of 4 keys][16 columns][4 keys], then 64 times the sum of each column
//
// A weight has 15 bits: 256 * (high + 64) + low, where high is -64 … 64 and low is -128 … 127, so that SDOT takes both. What 64
// adds is the same for all rows.

struct IntegerNeonProducts {
  static constexpr int tile_rows = 4;

  using Query = int8_t;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int8_t* const to = static_cast<int8_t*>(memory);
    for (int d = 0; d < head_dim; d += 16) store(to + d, load_bytes(query + d, head_dim - d));
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const int groups = (head_dim + 3) / 4;
    for (int k = 0; k < integer_chunk; k += 4) {
      int8_t* const at = to + (k / 16 * groups * 64 + k % 16 * 4);
      for (int d = 0; d < head_dim; d += 16) {
        int8x16_t four[4];
        load_four_keys(keys + d, stride, k, count, head_dim - d, four);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i < head_dim) store(at + (d / 4 + i) * 64, four[i]);
        }
      }
    }
  }

  static void pack_values(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* packed) {
    int8_t* to = reinterpret_cast<int8_t*>(packed);
    for (int c = 0; c < width; c += 16, to += block_bytes) {
      int32x4_t sums[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) sums[i] = vdupq_n_s32(0);
      for (int k = 0; k < integer_chunk; k += 4) {
        int8x16_t key[4];
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) key[i] = load<int8x16_t>(values + (k + i) * stride + c);
        const int8x16x2_t first = vzipq_s8(key[0], key[1]), last = vzipq_s8(key[2], key[3]);
        ATTEND_UNROLL
        for (int i = 0; i < 2; ++i) {
          const int16x8x2_t both = vzipq_s16(vreinterpretq_s16_s8(first.val[i]), vreinterpretq_s16_s8(last.val[i]));
          ATTEND_UNROLL
          for (int j = 0; j < 2; ++j) {
            const int8x16_t four = vreinterpretq_s8_s16(both.val[j]);
            store(to + k * 16 + (2 * i + j) * 16, four);
            sums[2 * i + j] = vdotq_s32(sums[2 * i + j], four, vdupq_n_s8(64));
          }
        }
      }
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) store(to + integer_chunk * 16 + i * 16, sums[i]);
    }
  }

  static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim, int32_t* scores) {
    for (int k = 0; k < integer_chunk; k += 4) {
      int32x4_t sums[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) sums[i] = vdupq_n_s32(0);
      for (int d = 0; d < head_dim; d += 16) {
        const int8x16_t numbers = load<int8x16_t>(query + d);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int8x16_t key = load<int8x16_t>(keys + (k + i) * stride + d);
          sums[i] = vdotq_s32(sums[i], key, numbers);
        }
      }
      store(scores + k, sums_of_lanes(sums));
    }
  }

  template <int rows>
  static void values(int32_t (*weights)[integer_chunk], const int16_t* packed, int width, const RowMerges& merges,
                     int32_t* sums) {
    const int8_t *high[rows], *low[rows];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      split(weights[r]);
      high[r] = reinterpret_cast<const int8_t*>(weights[r] + integer_chunk / 2);
      low[r] = high[r] + integer_chunk;
    }
    const int8_t* values = reinterpret_cast<const int8_t*>(packed);
    for (int c = 0; c < width; c += 16, values += block_bytes) {
      int32x4_t added[rows][4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int32x4_t same = load<int32x4_t>(values + integer_chunk * 16 + i * 16);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) added[r][i] = same;
      }
      add<rows>(high, values, integer_chunk / 4, added);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) added[r][i] = vshlq_n_s32(added[r][i], 8);
      }
      add<rows>(low, values, integer_chunk / 4, added);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) merge_columns(added[r], merges[r], sums + r * ptrdiff_t(width) + c, width - c);
    }
  }

 protected:
  static constexpr int block_bytes = 16 * integer_chunk * 2;  // half of it is not used

  // Both bytes of a row's weights, behind the weights.
  static ATTEND_ALWAYS_INLINE void split(int32_t* row) {
    int8_t* const to = reinterpret_cast<int8_t*>(row + integer_chunk / 2);
    ATTEND_UNROLL
    for (int k = 0; k < integer_chunk; k += 16) {
      const int16x8_t first = load<int16x8_t>(row + k / 2), last = load<int16x8_t>(row + k / 2 + 4);
      // The rounded upper byte is 0 … 128, which becomes -64 … 64 in 8 bits.
      const int8x16_t upper = vcombine_s8(vrshrn_n_s16(first, 8), vrshrn_n_s16(last, 8));
      store(to + k, vsubq_s8(upper, vdupq_n_s8(64)));
      store(to + integer_chunk + k, vcombine_s8(vmovn_s16(first), vmovn_s16(last)));
    }
  }

  // sums[r][column] += sum over i < 4 * groups of a[r][i] * b[i / 4][column][i % 4], of 16 columns; in_quads: of
  // 16 of a chunk's 32 columns.
  template <int rows, bool in_quads = false>
  static ATTEND_ALWAYS_INLINE void add(const int8_t* const* a, const int8_t* b, int groups, int32x4_t (&sums)[rows][4]) {
    constexpr int group = in_quads ? 128 : 64;
    int g = 0;
    for (; g + 4 <= groups; g += 4, b += 4 * group) {
      int8x16_t numbers[rows];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) numbers[r] = load<int8x16_t>(a[r] + 4 * g);
      add_group<rows, 0>(numbers, b, sums);
      add_group<rows, 1>(numbers, b + group, sums);
      add_group<rows, 2>(numbers, b + 2 * group, sums);
      add_group<rows, 3>(numbers, b + 3 * group, sums);
    }
    for (; g < groups; ++g, b += group) {
      int8x16_t numbers[rows];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) numbers[r] = vreinterpretq_s8_s32(vdupq_n_s32(load<int32_t>(a[r] + 4 * g)));
      add_group<rows, 0>(numbers, b, sums);
    }
  }

  template <int rows, int lane>
  static ATTEND_ALWAYS_INLINE void add_group(const int8x16_t (&numbers)[rows], const int8_t* b, int32x4_t (&sums)[rows][4]) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int8x16_t columns = load<int8x16_t>(b + 16 * i);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][i] = vdotq_laneq_s32(sums[r][i], columns, numbers[r], lane);
    }
  }
};
