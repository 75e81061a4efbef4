// The kernels of integer attention with AVX2. A chunk of keys lies as
//
//   [2 halves][pairs of dimensions][16 keys][2 dimensions] of 8 bits
//
// which are widened as they are loaded.

// In assembly, because GCC moves the additions away from the products, and then has more products than registers.
struct MultiplyAdd : Vectors256 {
#if !ATTEND_ASSEMBLY
  static ATTEND_ALWAYS_INLINE void add_pairs(__m256i& sum, __m256i a, __m256i b) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  template <class Pairs>
  static ATTEND_ALWAYS_INLINE void add_pairs_of_two(__m256i (&sums)[2], __m256i low, __m256i high, const Pairs& pairs) {
    int32_t words[2];
    ATTEND_MEMCPY(words, &pairs, sizeof pairs);
    const __m256i even = _mm256_set1_epi32(words[0]);
    const __m256i both = sizeof pairs == 8 ? _mm256_blend_epi32(even, _mm256_set1_epi32(words[1]), 0xaa) : even;
    add_pairs(sums[0], low, both);
    add_pairs(sums[1], high, both);
  }
#else
  static ATTEND_ALWAYS_INLINE void add_pairs(__m256i& sum, __m256i a, __m256i b) {
    __m256i product;
    __asm__("vpmaddwd {%3, %2, %1|%1, %2, %3}\n\tvpaddd {%1, %0, %0|%0, %0, %1}" : "+x"(sum), "=x"(product) : "x"(a), "x"(b));
  }
  // The same for two vectors and one or two pairs in memory, the products first: with each addition right after its product, a
  // tile of 6 rows gets 21.6 products of bytes done in a cycle of Zen 3, and 24.4 this way. The load is in it, because Clang
  // loads the next pairs so early that a sum has no register.
  template <class Pairs>
  static ATTEND_ALWAYS_INLINE void add_pairs_of_two(__m256i (&sums)[2], __m256i low, __m256i high, const Pairs& pairs) {
    __m256i first, second;
#define ATTEND_PRODUCTS(broadcast)                                                 \
  __asm__(broadcast                                                                \
          " {%6, %3|%3, %6}\n\tvpmaddwd {%3, %4, %2|%2, %4, %3}\n\t"               \
          "vpmaddwd {%3, %5, %3|%3, %5, %3}\n\tvpaddd {%2, %0, %0|%0, %0, %2}\n\t" \
          "vpaddd {%3, %1, %1|%1, %1, %3}"                                         \
          : "+x"(sums[0]), "+x"(sums[1]), "=&x"(first), "=&x"(second)              \
          : "x"(low), "x"(high), "m"(pairs))
    if constexpr (sizeof pairs == 8) {
      ATTEND_PRODUCTS("vpbroadcastq");
    } else {
      ATTEND_PRODUCTS("vpbroadcastd");
    }
#undef ATTEND_PRODUCTS
  }
#endif
};

struct IntegerAvx2 : IntegerPairs<MultiplyAdd> {
  static constexpr int tile_rows = 6, in_place_step = 16;

  using Query = int16_t;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int16_t* const to = static_cast<int16_t*>(memory);
    for (int d = 0; d < head_dim; d += 16) store(to + d, _mm256_cvtepi8_epi16(load_bytes(query + d, head_dim - d)));
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    for (int k = 0; k < integer_chunk; k += 8) {
      for (int d = 0; d < head_dim; d += 16) {
        __m128i first[4], second[4];
        load_four_keys(keys + d, stride, k, count, head_dim - d, first);
        load_four_keys(keys + d, stride, k + 4, count, head_dim - d, second);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i < head_dim) pack_eight(first[i], second[i], k, d + 4 * i, head_dim, to);
        }
      }
    }
  }

  // As pack_keys, for a chunk that lies in quads.
  static void pack_key_quads(const int8_t* quads, int head_dim, int8_t* to) {
    for (int d = 0; d < head_dim; d += 4) {
      for (int k = 0; k < integer_chunk; k += 8, quads += 32) {
        const __m128i* const eight = reinterpret_cast<const __m128i*>(quads);
        pack_eight(_mm_loadu_si128(eight), _mm_loadu_si128(eight + 1), k, d, head_dim, to);
      }
    }
  }

  // Not inlined: there GCC would keep sums in memory.
  template <int rows>
  ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, int head_dim,
                                     int32_t (*scores)[integer_chunk]) {
    const ptrdiff_t row_bytes = (head_dim + 3) / 4 * 4 * ptrdiff_t(sizeof(Query));
    const int8_t* at[rows];  // or Clang loads a row's address in each step
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) at[r] = reinterpret_cast<const int8_t*>(query[r]);
    for (int half = 0; half < integer_chunk; half += 16, keys += 8 * row_bytes) {
      __m256i sums[rows][2];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
      // Opaque, or Clang moves the address of each row: 4 bytes of a row for 32 of 16 keys.
      for (ptrdiff_t b = 0; b < row_bytes; b = opaque(b + 4)) {
        const __m256i low = widened(keys + 8 * b), high = widened(keys + 8 * b + 16);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) {
          MultiplyAdd::add_pairs_of_two(sums[r], low, high, reinterpret_cast<const Query(&)[2]>(at[r][b]));
        }
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        store(scores[r] + half, sums[r][0]);
        store(scores[r] + half + 8, sums[r][1]);
      }
    }
  }

  // The same of a cache's chunk, eight keys at a time: four in a vector, with two sums each.
  template <int rows>
  ATTEND_NOINLINE static void quad_scores(const Query* const* query, const int8_t* quads, int head_dim,
                                          int32_t (*scores)[integer_chunk]) {
    for (int k = 0; k < integer_chunk; k += 8) {
      const int8_t* keys = quads + 4 * k;
      __m256i sums[rows][2];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
      for (int d = 0; d < head_dim; d += 4, keys += 4 * integer_chunk) {
        const __m256i low = widened(keys), high = widened(keys + 16);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) {
          MultiplyAdd::add_pairs_of_two(sums[r], low, high, reinterpret_cast<const Query(&)[4]>(query[r][d]));
        }
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) store(scores[r] + k, in_order(_mm256_hadd_epi32(sums[r][0], sums[r][1])));
    }
  }

  // As scores, for one row and 32 keys, which are read where they lie, eight at a time.
  ATTEND_NOINLINE static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                                              int32_t* scores) {
    const RowsInPlace rows(stride);
    for (int k = 0; k < integer_chunk; k += 8) {
      __m256i halves[2];
      ATTEND_UNROLL
      for (int i = 0; i < 2; ++i, keys = rows.next(keys)) {
        __m256i sums[4];
        ATTEND_UNROLL
        for (int j = 0; j < 4; ++j) sums[j] = _mm256_setzero_si256();
        for (int d = 0; d < head_dim; d += 16) {
          const __m256i numbers = load(query + d);
          if (d % 64 == 0) rows.prefetch_four(keys + d);
          ATTEND_UNROLL
          for (int j = 0; j < 4; ++j) MultiplyAdd::add_pairs(sums[j], widened(rows.row(keys + d, j)), numbers);
        }
        halves[i] = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
      }
      store(scores + k, combine_128<Sum>(halves));
    }
  }

  // As values, for one row and 32 keys, which are read where they lie, 32 columns at a time.
  ATTEND_NOINLINE static void values_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width,
                                              const Merge& merge, int32_t* sums) {
    int c = 0;
    for (; c + 32 <= width; c += 32) columns_in_place<2>(weights, values + c, stride, merge, sums + c);
    if (c < width) columns_in_place<1>(weights, values + c, stride, merge, sums + c);
  }

  static constexpr bool reads_quads = true;

  // Scores of one row with chunks of keys: four keys in a vector, with two sums each.
  ATTEND_NOINLINE static void scores_in_quads(const Query* query, const int8_t* const* quads, int count, int head_dim,
                                              int32_t (*scores)[integer_chunk]) {
    for (int i = 0; i < count; ++i) {
      const int8_t* keys = quads[i];
      __m256i sums[8];
      ATTEND_UNROLL
      for (int v = 0; v < 8; ++v) sums[v] = _mm256_setzero_si256();
      for (int d = 0; d < head_dim; d += 4, keys += 4 * integer_chunk) {
        const __m256i quad = quad_at(query + d);
        ATTEND_PREFETCH(keys + quad_bytes_ahead);
        ATTEND_PREFETCH(keys + quad_bytes_ahead + 64);
        ATTEND_UNROLL
        for (int v = 0; v < 8; ++v) MultiplyAdd::add_pairs(sums[v], widened(keys + 16 * v), quad);
      }
      ATTEND_UNROLL
      for (int v = 0; v < 4; ++v) store(scores[i] + 8 * v, in_order(_mm256_hadd_epi32(sums[2 * v], sums[2 * v + 1])));
    }
  }

  // Values of one row in quads, 32 columns at a time, and then 8.
  ATTEND_NOINLINE static void values_in_quads(int32_t (*weights)[integer_chunk], const int8_t* const* quads, int count,
                                              int width, const RowMerges& merges, int32_t* sums) {
    for (int i = 0; i < count; ++i) {
      const Merge merge = merges[i];
      int c = 0;
      for (; c + 32 <= width; c += 32) quad_columns<4>(weights[i], quads[i] + 4 * c, width, 32, merge, sums + c);
      for (; c < width; c += 8) quad_columns<1>(weights[i], quads[i] + 4 * c, width, width - c, merge, sums + c);
    }
  }

 private:
  static constexpr int quad_bytes_ahead = 4096;

  // Four dimensions, from d on, of keys k … k + 7.
  static ATTEND_ALWAYS_INLINE void pack_eight(__m128i first, __m128i second, int k, int d, int head_dim, int8_t* to) {
    const int pairs = (head_dim + 3) / 4 * 2;
    const __m128i a = pairs_apart(first), b = pairs_apart(second);
    __m128i* const pair = reinterpret_cast<__m128i*>(to + (k / 16 * pairs + d / 2) * 32 + k % 16 * 2);
    _mm_store_si128(pair, _mm_unpacklo_epi64(a, b));
    _mm_store_si128(pair + 2, _mm_unpackhi_epi64(a, b));
  }

  static ATTEND_ALWAYS_INLINE __m256i quad_at(const void* words) {
    int64_t quad;
    ATTEND_MEMCPY(&quad, words, sizeof quad);
    return _mm256_set1_epi64x(quad);
  }

  // `vectors` times 8 columns of a chunk; `count` columns exist. Four columns in a vector, with two sums each.
  template <int vectors>
  static ATTEND_ALWAYS_INLINE void quad_columns(const int32_t* weights, const int8_t* values, int width, int count,
                                                const Merge& merge, int32_t* sums) {
    __m256i added[2 * vectors];
    ATTEND_UNROLL
    for (int v = 0; v < 2 * vectors; ++v) added[v] = _mm256_setzero_si256();
    const int quads = opaque(integer_chunk / 4);
    for (int k = 0; k < quads; ++k, values += 4 * ptrdiff_t(width)) {
      const __m256i quad = quad_at(weights);
      weights += k == 3 ? 2 - 3 * 4 : 4;  // quads 0 … 3 are at places 0 2 4 6, and the others at 1 3 5 7
      ATTEND_UNROLL
      for (int v = 0; v < 2 * vectors; ++v) {
        if (v % 4 == 0) ATTEND_PREFETCH(values + 16 * v + quad_bytes_ahead);
        const __m128i bytes = vectors > 1 ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + 16 * v))
                                          : load_columns(values + 16 * v, count - 4 * v);
        MultiplyAdd::add_pairs(added[v], _mm256_cvtepi8_epi16(bytes), quad);
      }
    }
    const Shifts shifts = shifts_of(merge);
    const __m256i half = _mm256_set1_epi32(merge.half);
    ATTEND_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const __m256i eight = _mm256_add_epi32(in_order(_mm256_hadd_epi32(added[2 * v], added[2 * v + 1])), half);
      merge_columns(eight, shifts, sums + 8 * v, count - 8 * v);
    }
  }
  // Four columns of four bytes, or some of them and zeros.
  static ATTEND_ALWAYS_INLINE __m128i load_columns(const int8_t* from, int count) {
    const __m128i first = _mm_cmpgt_epi32(_mm_set1_epi32(count), _mm_setr_epi32(0, 1, 2, 3));
    return _mm_maskload_epi32(reinterpret_cast<const int*>(from), first);
  }

  static ATTEND_ALWAYS_INLINE __m256i widened(const int8_t* from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  template <int vectors>
  static ATTEND_ALWAYS_INLINE void columns_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride,
                                                    const Merge& merge, int32_t* sums) {
    const RowsInPlace rows(stride);
    __m256i added[2 * vectors];
    ATTEND_UNROLL
    for (int i = 0; i < 2 * vectors; ++i) added[i] = _mm256_set1_epi32(merge.half);
    for (int k = 0; k < integer_chunk; k += 4, values = rows.next(values)) {
      rows.prefetch_four(values);
      ATTEND_UNROLL
      for (int j = 0; j < 4; j += 2) {
        const __m256i both = _mm256_set1_epi32(load_number(weights + 2 * place_of_quad(k / 4) + j / 2));
        const int8_t *even = rows.row(values, j), *odd = rows.row(values, j + 1);
        ATTEND_UNROLL
        for (int v = 0; v < vectors; ++v) {
          const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(even + 16 * v));
          const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(odd + 16 * v));
          MultiplyAdd::add_pairs(added[2 * v], _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(a, b)), both);
          MultiplyAdd::add_pairs(added[2 * v + 1], _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(a, b)), both);
        }
      }
    }
    const Shifts shifts = shifts_of(merge);
    ATTEND_UNROLL
    for (int i = 0; i < 2 * vectors; ++i) merge_columns(added[i], shifts, sums + 8 * i, 8);
  }
};
