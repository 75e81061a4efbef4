// Products of integer attention by SMLAL, which multiplies numbers of 16 bits by one of them. A chunk lies as
//
//   keys    [2 halves][dimensions, up to a multiple of 4][16 keys]
//   values  [blocks of 16 columns][32 keys][16 columns]
//
// of 8 bits, which are widened as they are loaded.

struct IntegerNeonProducts {
#if defined(__aarch64__)
  static constexpr int tile_rows = 4;
#else
  static constexpr int tile_rows = 2;  // half as many registers
#endif

  using Query = int16_t;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int16_t* const to = static_cast<int16_t*>(memory);
    for (int d = 0; d < head_dim; d += 16) {
      const int8x16_t numbers = load_bytes(query + d, head_dim - d);
      store(to + d, vmovl_s8(vget_low_s8(numbers)));
      store(to + d + 8, vmovl_s8(vget_high_s8(numbers)));
    }
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const int padded = (head_dim + 3) / 4 * 4;
    for (int half = 0; half < integer_chunk; half += 16, to += padded * 16) {
      for (int d = 0; d < head_dim; d += 16) {
        int8x16_t four[4][4];
        for (int i = 0; i < 4; ++i) load_four_keys(keys + d, stride, half + 4 * i, count, head_dim - d, four[i]);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i >= head_dim) continue;
          const int8x16x2_t first = vuzpq_s8(four[0][i], four[1][i]), last = vuzpq_s8(four[2][i], four[3][i]);
          const int8x16x2_t even = vuzpq_s8(first.val[0], last.val[0]), odd = vuzpq_s8(first.val[1], last.val[1]);
          int8_t* const at = to + (d + 4 * i) * 16;
          store(at, even.val[0]);
          store(at + 16, odd.val[0]);
          store(at + 32, even.val[1]);
          store(at + 48, odd.val[1]);
        }
      }
    }
  }

  static void pack_values(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* packed) {
    int8_t* to = reinterpret_cast<int8_t*>(packed);
    for (int c = 0; c < width; c += 16) {
      for (int k = 0; k < integer_chunk; ++k, to += 16) {
        store(to, load_bytes(values + k * stride + c, k < count ? width - c : 0));
      }
    }
  }

  static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim, int32_t* scores) {
    for (int k = 0; k < integer_chunk; k += 4) {
      int32x4_t sums[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) sums[i] = vdupq_n_s32(0);
      for (int d = 0; d < head_dim; d += 16) {
        const int16x8_t low = load<int16x8_t>(query + d), high = load<int16x8_t>(query + d + 8);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int8x16_t key = load<int8x16_t>(keys + (k + i) * stride + d);
          const int16x8_t first = vmovl_s8(vget_low_s8(key)), last = vmovl_s8(vget_high_s8(key));
          sums[i] = vmlal_s16(sums[i], vget_low_s16(first), vget_low_s16(low));
          sums[i] = vmlal_s16(sums[i], vget_high_s16(first), vget_high_s16(low));
          sums[i] = vmlal_s16(sums[i], vget_low_s16(last), vget_low_s16(high));
          sums[i] = vmlal_s16(sums[i], vget_high_s16(last), vget_high_s16(high));
        }
      }
      store(scores + k, sums_of_lanes(sums));
    }
  }

  template <int rows>
  static void values(int32_t (*weights)[integer_chunk], const int16_t* packed, int width, const RowMerges& merges,
                     int32_t* sums) {
    const int32_t* row[rows];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) row[r] = weights[r];
    const int8_t* values = reinterpret_cast<const int8_t*>(packed);
    for (int c = 0; c < width; c += 16, values += 16 * integer_chunk) {
      int32x4_t added[rows][4];
      clear(added);
      add<rows>(row, values, integer_chunk / 4, added);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) merge_columns(added[r], merges[r], sums + r * ptrdiff_t(width) + c, width - c);
    }
  }

 protected:
  // sums[r][column] += sum over i < 4 * groups of a[r][i] * b[i][column], of 16 columns; a has 16 bits. Quads are four
  // numbers of a column side by side, of 32 columns.
  template <int rows, bool in_quads = false, class Pointer>
  static ATTEND_ALWAYS_INLINE void add(const Pointer* a, const int8_t* b, int groups, int32x4_t (&sums)[rows][4]) {
    for (int i = 0; i < 4 * groups; i += 4, b += in_quads ? 128 : 64) {
      int16x4_t numbers[rows];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) numbers[r] = load<int16x4_t>(reinterpret_cast<const char*>(a[r]) + 2 * i);
      if constexpr (in_quads) {
        const int8x16x4_t columns = vld4q_s8(b);
        add_step<rows, 0>(numbers, columns.val[0], sums);
        add_step<rows, 1>(numbers, columns.val[1], sums);
        add_step<rows, 2>(numbers, columns.val[2], sums);
        add_step<rows, 3>(numbers, columns.val[3], sums);
      } else {
        add_step<rows, 0>(numbers, load<int8x16_t>(b), sums);
        add_step<rows, 1>(numbers, load<int8x16_t>(b + 16), sums);
        add_step<rows, 2>(numbers, load<int8x16_t>(b + 32), sums);
        add_step<rows, 3>(numbers, load<int8x16_t>(b + 48), sums);
      }
    }
  }

  template <int rows, int lane>
  static ATTEND_ALWAYS_INLINE void add_step(const int16x4_t (&numbers)[rows], int8x16_t columns, int32x4_t (&sums)[rows][4]) {
    const int16x8_t low = vmovl_s8(vget_low_s8(columns)), high = vmovl_s8(vget_high_s8(columns));
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) add_products<lane>(sums[r], low, high, numbers[r]);
  }
};
