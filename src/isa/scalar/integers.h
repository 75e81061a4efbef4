// The kernels of integer attention in plain C++, for processors without an instruction that multiplies several numbers; what
// they compute is the contract of all others.

#if ATTEND_ASSEMBLY && defined(__thumb__) && !defined(__thumb2__)
#define ATTEND_THUMB1 1
#else
#define ATTEND_THUMB1 0
#endif

#if ATTEND_THUMB1
// The inner loops of integer attention in Thumb's first instructions (Cortex-M0, M0+, M1, M23), which multiply two registers
// and name eight of them in most instructions. The sums are in ip and lr, which `add` reaches; where code is made small,
// compilers use none of the others above r7, and r7 may be the frame's. No operand is marked as written early: GCC then finds
// no registers where r7 is the frame's. Those that are only read share none with the others, as their values differ.

// sums[0] += first . key, sums[1] += second . key over the first `dims` dimensions, a multiple of 4 above 0.
inline void add_two_products(const int8_t* first, const int8_t* second, const int8_t* key, int dims, int32_t* sums) {
  int d = dims - 1, k = sums[0], x = sums[1];
#define ATTEND_STEP                                                                                   \
  "ldrsb %[k], [%[key], %[d]]\n\tldrsb %[x], [%[first], %[d]]\n\tmuls %[x], %[k]\n\tadd ip, %[x]\n\t" \
  "ldrsb %[x], [%[second], %[d]]\n\tmuls %[k], %[x]\n\tadd lr, %[k]\n\tsubs %[d], #1\n\t"
  __asm__ volatile(".syntax unified\n\tmov ip, %[k]\n\tmov lr, %[x]\n1:\t" ATTEND_STEP ATTEND_STEP ATTEND_STEP ATTEND_STEP
                   "bcs 1b\n\tmov %[k], ip\n\tmov %[x], lr"
                   : [k] "+l"(k), [x] "+l"(x), [d] "+l"(d)
                   : [key] "l"(key), [first] "l"(first), [second] "l"(second)
                   : "cc", "memory", "r12", "lr");
#undef ATTEND_STEP
  sums[0] = k;
  sums[1] = x;
}

// sums[r] += weights[2 k + r] * values[k * stride] over `keys` keys, a multiple of 4 above 0.
ATTEND_ALWAYS_INLINE void add_two_weighted(const void* weights, const int8_t* values, ptrdiff_t stride, int keys,
                                           int32_t* sums) {
  const char *at = static_cast<const char*>(weights), *const end = at + 4 * keys;
  int offset = 0, v = sums[0], w = sums[1];
#define ATTEND_STEP(first, second)                                    \
  "ldrsb %[v], [%[values], %[offset]]\n\tldrh %[w], [%[at], #" #first \
  "]\n\tmuls %[w], %[v]\n\tadd ip, %[w]\n\t"                          \
  "ldrh %[w], [%[at], #" #second "]\n\tmuls %[v], %[w]\n\tadd lr, %[v]\n\tadds %[offset], %[offset], %[stride]\n\t"
  __asm__ volatile(".syntax unified\n\tmov ip, %[v]\n\tmov lr, %[w]\n1:\t" ATTEND_STEP(0, 2) ATTEND_STEP(4, 6)
                       ATTEND_STEP(8, 10)
                           ATTEND_STEP(12, 14) "adds %[at], #16\n\tcmp %[at], %[end]\n\tbne 1b\n\tmov %[v], ip\n\tmov %[w], lr"
                   : [v] "+l"(v), [w] "+l"(w), [at] "+l"(at), [offset] "+l"(offset)
                   : [values] "l"(values), [stride] "l"(stride), [end] "l"(end)
                   : "cc", "memory", "r12", "lr");
#undef ATTEND_STEP
  sums[0] = v;
  sums[1] = w;
}
#endif

struct IntegerScalar {
  static constexpr int tile_rows = 2;   // of the largest tile; smaller ones exist too
  static constexpr bool packs = false;  // whether keys and values are packed where several tiles of rows read them

  // Where a row's query lies that the kernels read. From there on, integer_query_bytes may be used.
  using Query = int8_t;
  static constexpr bool copies_queries = false;  // whether `prepare` writes to that memory
  static const Query* prepare(const int8_t* query, int /*head_dim*/, const IntegerQueryMemory& /*memory*/) { return query; }

  // scores[r][k] = sum over d of query[r][d] * keys[k][d], for k < count <= integer_chunk; what is after them may be written.
  template <int rows>
  ATTEND_ALWAYS_INLINE static void scores(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int count,
                                          int head_dim, int32_t (*scores)[integer_chunk]) {
    constexpr int together = tile_keys(rows);
    for (int k = 0; k < count; k += together, keys += together * stride) {
      // A last single key is taken twice.
      score_tile<rows, together>(query, keys, k + 1 < count ? stride : 0, head_dim, *scores + k);
    }
  }

  // The largest of a row's scores.
  ATTEND_ALWAYS_INLINE static int32_t largest(const int32_t* scores) {
    int32_t maximum = *scores;
    const auto step = [&]() ATTEND_INLINE_AT_ALL_LEVELS { maximum = larger_of(maximum, *scores++); };
    for (int k = 0; k < integer_chunk; k += 4) four_times(step);
    return maximum;
  }

  // Where a row's weight of a key lies, in a tile whose scores have become weights: the weights of a key lie side by side.
  // Weights are only written before the scores that are still to be read.
  using Weight = detail::AliasedInt16;
  static Weight* weight(int32_t (*tile)[integer_chunk], int row, int key) {
    return reinterpret_cast<Weight*>(tile[0]) + key * tile_rows + row;
  }

  // Scores of a row to weights, in their place; returns their sum. Rows are taken in ascending order.
  ATTEND_ALWAYS_INLINE static uint32_t weights(int32_t (*tile)[integer_chunk], int row, int32_t largest,
                                               const core::ScoreScale& scale, uint32_t fraction) {
    const int32_t* scores = tile[row];
    Weight* to = weight(tile, row, 0);
    uint32_t sum = 0;
    const auto step = [&]() ATTEND_INLINE_AT_ALL_LEVELS {
      const uint32_t number = weight_of(largest - *scores++, scale, fraction);
      *to = int16_t(number);
      to += tile_rows;
      sum += number;
    };
    for (int k = 0; k < integer_chunk; k += 4) four_times(step);
    return sum;
  }

  // sums.data[r][c] = (sums.data[r][c] >> total) + ((sum over k < count of weights[r][k] * values[k][c] + half) >> chunk).
  template <int rows>
  ATTEND_ALWAYS_INLINE static void values(int32_t (*weights)[integer_chunk], const int8_t* values, ptrdiff_t stride, int count,
                                          const IntegerSums& sums) {
    const int width = sums.width;
    int c = 0;
    for (; c + tile_columns <= width; c += tile_columns) {
      value_tile<rows, tile_columns>(weight(weights, 0, 0), values + c, stride, count, sums, c);
    }
    for (; tile_columns > 2 && !code_is_small && c + 2 <= width; c += 2) {
      value_tile<rows, 2>(weight(weights, 0, 0), values + c, stride, count, sums, c);
    }
    for (; tile_columns > 1 && c < width; ++c) {
      value_tile<rows, 1>(weight(weights, 0, 0), values + c, stride, count, sums, c);
    }
  }

  // output_of and clamped, of `count` columns.
  ATTEND_ALWAYS_INLINE static void outputs(const int32_t* sums, const RowEnd& end, int count, int8_t* to) {
    for (int c = 0; c < count; ++c) to[c] = int8_t(clamped(output_of(sums[c], end), -128, 127));
  }

 private:
  // As many as registers hold beside the pointers: Thumb's first instructions have eight, the later ones fourteen.
  static constexpr int tile_keys(int rows) { return ATTEND_THUMB1 ? 3 - rows : 2; }
#if ATTEND_THUMB1
  static constexpr int tile_columns = 1;
#elif defined(__thumb2__)
  static constexpr int tile_columns = 3;
#else
  static constexpr int tile_columns = 2;
#endif

  template <class Step>
  ATTEND_ALWAYS_INLINE static void four_times(Step step) {
#ifdef __OPTIMIZE_SIZE__
    for (int i = 0; i < 4; ++i) step();
#else
    step(), step(), step(), step();
#endif
  }

  template <int rows, int count>
  ATTEND_ALWAYS_INLINE static void score_tile(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                                              int32_t* scores) {
    const Query *first = query[0], *second = query[rows - 1];
    const int8_t* other = keys + (count - 1) * stride;
    int32_t sums[rows][count];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int i = 0; i < count; ++i) sums[r][i] = 0;
    }
    int fours = head_dim >> 2;
#if ATTEND_THUMB1
    if constexpr (rows * count == 2) {  // two queries by a key, or two keys by a query
      if (fours > 0)
        add_two_products(rows == 2 ? first : keys, rows == 2 ? second : other, rows == 2 ? keys : first, 4 * fours, *sums);
      first += 4 * fours, second += 4 * fours, keys += 4 * fours, other += 4 * fours;
      fours = 0;
    }
#endif
    const auto step = [&]() ATTEND_INLINE_AT_ALL_LEVELS {
      const int32_t k[] = {*keys++, *other++}, a = *first++;
      for (int i = 0; i < count; ++i) sums[0][i] += a * k[i];
      if constexpr (rows > 1) {
        const int32_t b = *second++;
        for (int i = 0; i < count; ++i) sums[rows - 1][i] += b * k[i];
      }
    };
    for (; fours > 0; --fours) four_times(step);
    for (int left = head_dim & 3; left > 0; --left) step();
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < count; ++i) scores[r * integer_chunk + i] = sums[r][i];
    }
  }

  template <int rows, int count>
  ATTEND_ALWAYS_INLINE static void value_tile(const Weight* weights, const int8_t* values, ptrdiff_t stride, int keys,
                                              const IntegerSums& to, int column) {
    int32_t sums[rows][count];
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int i = 0; i < count; ++i) sums[r][i] = to.merges[r].half;
    }
    const auto step = [&]() ATTEND_INLINE_AT_ALL_LEVELS {
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        ATTEND_UNROLL
        for (int i = 0; i < count; ++i) sums[r][i] += uint16_t(weights[r]) * int32_t(values[i]);
      }
      weights += tile_rows;
      values += stride;
#if !ATTEND_EMBEDDED && ATTEND_GNU && !defined(__clang__) && (__GNUC__ == 11 || (__GNUC__ == 12 && __GNUC_MINOR__ < 3))
      // These make vectors of several rows' columns, and read behind the last row (GCC's bug 107451), unless they lose track.
      ATTEND_HIDE(values);
#endif
    };
    int fours = keys >> 2;
#if ATTEND_THUMB1
    if constexpr (rows == 2) {
      if (fours > 0) add_two_weighted(weights, values, stride, 4 * fours, *sums);
      weights += tile_rows * 4 * fours;
      values += stride * 4 * fours;
      fours = 0;
    }
#endif
    for (; fours > 0; --fours) four_times(step);
    for (int left = keys & 3; left > 0; --left) step();
    const auto add = [&](int r) ATTEND_INLINE_AT_ALL_LEVELS {
      ATTEND_UNROLL
      for (int i = 0; i < count; ++i) {
        int32_t* const sum = to.data + column + r * to.width + i;
        *sum = (*sum >> to.merges[r].total) + (sums[r][i] >> to.merges[r].chunk);
      }
    };
    add(0);
    if constexpr (rows > 1) add(1);
  }
};
