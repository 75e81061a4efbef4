// The kernels of integer attention for instruction sets that add products of quads of bytes, one side unsigned. A chunk of keys
// lies as
//
//   [quads of dimensions][32 keys][4 dimensions] of 8 bits, each 128 more than it is
//
// and sums of scores begin at -128 times the sum of the query. Caches (core/integer.h) have keys in that order already.
// What depends on the vector's length or on instructions is in `Operations`: what IntegerPairs asks for, and
//
//   flip, shift_up           bytes with their signs flipped; lanes times 2^8
//   add_quads                sum += four products of bytes without a sign and bytes with one; add_quads_of_tile for many sums
//   cut_weights              weights of a chunk, as their lower and upper bytes
//   load_some, in_order      as many bytes as there are, and zeros; columns of interleaved rows

template <class Operations>
struct IntegerQuads : IntegerPairs<Operations> {
  using Vector = typename Operations::Vector;
  static constexpr int lanes = Operations::lanes;

  // The number at which the scores of a row begin, then its query from byte `query_at` on.
  using Query = int8_t;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int8_t* const to = static_cast<int8_t*>(memory) + query_at;
    Vector wide = Operations::all(0);
    int d = 0;
    for (; d + 4 * lanes <= head_dim; d += 4 * lanes) {
      const Vector numbers = Operations::load(query + d);
      Operations::store(to + d, numbers);
      Operations::add_quads(wide, Operations::all(0x01010101), numbers);
    }
    int32_t added[lanes];
    Operations::store(added, wide);
    __m128i sums = _mm_setzero_si128();
    for (int i = 0; i < lanes; i += 4) sums = _mm_add_epi32(sums, _mm_loadu_si128(reinterpret_cast<const __m128i*>(added + i)));
    for (; d < head_dim; d += 16) {
      const __m128i numbers = load_bytes(query + d, head_dim - d);
      _mm_store_si128(reinterpret_cast<__m128i*>(to + d), numbers);
      sums = _mm_add_epi32(sums, _mm_madd_epi16(_mm_maddubs_epi16(_mm_set1_epi8(1), numbers), _mm_set1_epi16(1)));
    }
    *static_cast<int32_t*>(memory) = -128 * int32_t(sum_of_four(sums));
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const __m128i sign = _mm_set1_epi8(-128);
    for (int k = 0; k < integer_chunk; k += 4) {
      for (int d = 0; d < head_dim; d += 16) {
        __m128i four[4];
        load_four_keys(keys + d, stride, k, count, head_dim - d, four);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i >= head_dim) continue;
          __m128i* const at = reinterpret_cast<__m128i*>(to + (d + 4 * i) * integer_chunk + k * 4);
          _mm_store_si128(at, _mm_xor_si128(four[i], sign));
        }
      }
    }
  }

  // As pack_keys, for a chunk that lies in quads: in this order already.
  static void pack_key_quads(const int8_t* quads, int head_dim, int8_t* to) {
    const __m256i sign = _mm256_set1_epi8(-128);
    const int bytes = (head_dim + 3) / 4 * 4 * integer_chunk;
    for (int i = 0; i < bytes; i += 32) {
      const __m256i keys = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(quads + i));
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), _mm256_xor_si256(keys, sign));
    }
  }

  // Not inlined: GCC would keep sums in memory, and pointers to queries would be too many for the registers.
  template <int rows>
  ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, int head_dim,
                                     int32_t (*scores)[integer_chunk]) {
    score_tile<rows, false>(query, keys, head_dim, scores);
  }
  // The same of a cache's chunk, whose bytes have signs.
  template <int rows>
  ATTEND_NOINLINE static void quad_scores(const Query* const* query, const int8_t* quads, int head_dim,
                                          int32_t (*scores)[integer_chunk]) {
    score_tile<rows, true>(query, quads, head_dim, scores);
  }

  // As scores, for one row and 32 keys, which are read where they lie, four at a time. A key of one vector takes no loop.
  ATTEND_ALWAYS_INLINE static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                                                   int32_t* scores) {
    if (head_dim == 4 * lanes) return vectors_in_place(query, keys, stride, scores);
    head_dim <= most_prefetched ? any_in_place<true>(query, keys, stride, head_dim, scores)
                                : any_in_place<false>(query, keys, stride, head_dim, scores);
  }

  // As values, for one row and 32 keys, which are read where they lie, four vectors of columns at a time. Bytes of four keys
  // are brought side by side, and are multiplied by the upper and by the lower bytes of their weights.
  ATTEND_NOINLINE static void values_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width,
                                              const Merge& merge, int32_t* sums) {
    Bytes bytes;
    Operations::cut_weights(weights, bytes.low, bytes.high);
    const RowsInPlace rows(stride);
    const auto shifts = IntegerQuads::shifts_of(merge);
    for (int c = 0; c < width; c += 4 * lanes) {
      Vector low[4], high[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) low[i] = high[i] = Operations::all(0);
      const auto columns = Operations::bytes_of(width - c);
      const int8_t* from = values + c;
      for (int k = 0; k < integer_chunk; k += 4, from = rows.next(from)) {
        Vector quads[4];
        rows.prefetch_four(from);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) quads[i] = Operations::load_some(rows.row(from, i), columns);
        interleave_bytes(quads);
        const Vector low_quad = Operations::all(number_at(bytes.low + k)),
                     high_quad = Operations::all(number_at(bytes.high + k));
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          Operations::add_quads(low[i], low_quad, quads[i]);
          Operations::add_quads(high[i], high_quad, quads[i]);
        }
      }
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) low[i] = sum_of_bytes(low[i], high[i], merge);
      Operations::in_order(low);
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int left = width - c - lanes * i;
        if (left > 0) IntegerQuads::merge_columns(low[i], shifts, sums + c + lanes * i, left);
      }
    }
  }

  static constexpr bool reads_quads = true;

  // Scores of `count` chunks in quads with a query. Two sums for each key, so that few products wait for the ones before.
  ATTEND_NOINLINE static void scores_in_quads(const Query* query, const int8_t* const* quads, int count, int head_dim,
                                              int32_t (*scores)[integer_chunk]) {
    constexpr int vectors = integer_chunk / lanes;
    const int32_t first = number_at(query);
    query += query_at;
    for (int i = 0; i < count; ++i) {
      const int8_t* keys = quads[i];
      Vector sums[2][vectors];
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) sums[0][v] = Operations::all(first), sums[1][v] = Operations::all(0);
      const auto add_quad = [&](int d, int which) ATTEND_INLINE_AT_ALL_LEVELS {
        const Vector quad = Operations::all(number_at(query + d));
        ATTEND_UNROLL
        for (int v = 0; v < vectors; ++v, keys += 4 * lanes) {
          prefetch(keys);
          Operations::add_quads(sums[which][v], Operations::flip(Operations::load(keys)), quad);
        }
      };
      int d = 0;
      for (; head_dim - d > 4; d += 8) add_quad(d, 0), add_quad(d + 4, 1);
      if (d < head_dim) add_quad(d, 0);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) Operations::store(scores[i] + v * lanes, sum(sums[0][v], sums[1][v]));
    }
  }

  // Adds the values of `count` chunks in quads, times their weights, to the sums of a row.
  ATTEND_NOINLINE static void values_in_quads(int32_t (*weights)[integer_chunk], const int8_t* const* quads, int count,
                                              int width, const RowMerges& merges, int32_t* sums) {
    Bytes bytes[8];
    const Chunks chunks = {bytes, quads, count, width, merges};
    for (int i = 0; i < count; ++i) Operations::cut_weights(weights[i], bytes[i].low, bytes[i].high);
    int c = 0;
    for (; c + 4 * lanes <= width; c += 4 * lanes) quad_columns<4>(chunks, c, lanes, sums + c);
    for (; c < width; c += lanes) quad_columns<1>(chunks, c, width - c, sums + c);
  }

 protected:
  using Products = Operations;
  static constexpr int query_at = 64;

  struct Bytes {
    alignas(32) uint8_t low[integer_chunk];
    alignas(32) uint8_t high[integer_chunk];
  };

  static ATTEND_ALWAYS_INLINE Vector sum_of_bytes(Vector low, Vector high, const Merge& merge) {
    return sum(sum(low, Operations::shift_up(high)), Operations::all(merge.half));
  }

 private:
  static constexpr int bytes_ahead = 4096;
  static constexpr int most_prefetched = 128;  // the most dimensions of keys that are prefetched: longer keys are streams

  // Adds the products of as many dimensions of four keys as a vector has bytes, or fewer.
  template <class Dims>
  static ATTEND_ALWAYS_INLINE void add_four(const RowsInPlace& rows, const int8_t* from, Vector numbers, Dims dims,
                                            Vector (&four)[4]) {
    ATTEND_UNROLL
    for (int j = 0; j < 4; ++j) {
      Operations::add_quads_of_tile(four[j], Operations::flip(Operations::load_some(rows.row(from, j), dims)), numbers);
    }
  }

  // scores_in_place of keys that are one vector, and of any others; apart, so that neither needs the other's registers.
  ATTEND_NOINLINE static void vectors_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int32_t* scores) {
    const RowsInPlace rows(stride);
    const Vector numbers = Operations::load(query + query_at);
    fours_in_place(rows, query, keys, scores, [&](const int8_t* from, Vector(&four)[4]) ATTEND_INLINE_LAMBDA {
      rows.prefetch_four(from);
      add_four(rows, from, numbers, Operations::bytes_of(4 * lanes), four);
    });
  }
  template <bool prefetch>
  ATTEND_NOINLINE static void any_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                                           int32_t* scores) {
    const RowsInPlace rows(stride);
    fours_in_place(rows, query, keys, scores, [&](const int8_t* from, Vector(&four)[4]) ATTEND_INLINE_LAMBDA {
      const int8_t* numbers = query + query_at;
      int left = head_dim;
      for (; left >= 4 * lanes; left = opaque(left - 4 * lanes), from += 4 * lanes, numbers += 4 * lanes) {
        if (prefetch) rows.prefetch_four(from);
        add_four(rows, from, Operations::load(numbers), Operations::bytes_of(4 * lanes), four);
      }
      if (left == 0) return;
      if (prefetch) rows.prefetch_four(from);
      const auto dims = Operations::bytes_of(left);
      add_four(rows, from, Operations::load_some(numbers, dims), dims, four);
    });
  }

  // Scores of 32 keys; `add` adds the products of four keys.
  template <class Add>
  static ATTEND_ALWAYS_INLINE void fours_in_place(const RowsInPlace& rows, const Query* query, const int8_t* keys,
                                                  int32_t* scores, Add add) {
    const Vector start = Operations::all(number_at(query));
    constexpr int vectors = integer_chunk / lanes, pieces = lanes / 4;
    ATTEND_UNROLL
    for (int v = 0; v < vectors; ++v) {
      Vector fours[pieces];  // sums of products of four keys each, some of each sum in each piece
      ATTEND_UNROLL
      for (int i = 0; i < pieces; ++i, keys = rows.next(keys)) {
        Vector four[4];
        ATTEND_UNROLL
        for (int j = 0; j < 4; ++j) four[j] = Operations::all(0);
        add(keys, four);
        fours[i] = combine_four<Sum>(four);
      }
      Operations::store(scores + v * lanes, sum(start, combine_128<Sum>(fours)));
    }
  }

  // Chunks of values, `width` columns each, with the weights of a row.
  struct Chunks {
    const Bytes* bytes;
    const int8_t* const* quads;
    int count;
    int width;
    const RowMerges& merges;
  };

  template <int rows, bool in_quads>
  static ATTEND_ALWAYS_INLINE void score_tile(const Query* const* query, const int8_t* keys, int head_dim,
                                              int32_t (*scores)[integer_chunk]) {
    for (int k = 0; k < integer_chunk; k += 2 * lanes) {
      Vector sums[rows][2];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = Operations::all(number_at(query[r]));
      const int8_t* from = keys + k * 4;
      for (int d = 0; d < head_dim; d += 4) {
        Vector low = Operations::load(from), high = Operations::load(from + 4 * lanes);
        if constexpr (in_quads) low = Operations::flip(low), high = Operations::flip(high);
        from += 4 * integer_chunk;
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) {
          const Vector quad = Operations::all(number_at(query[r] + query_at + d));
          Operations::add_quads_of_tile(sums[r][0], low, quad);
          Operations::add_quads_of_tile(sums[r][1], high, quad);
        }
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        Operations::store(scores[r] + k, sums[r][0]);
        Operations::store(scores[r] + k + lanes, sums[r][1]);
      }
    }
  }

  static ATTEND_ALWAYS_INLINE int32_t number_at(const void* from) { return IntegerX86::load_number(from); }
  static ATTEND_ALWAYS_INLINE void prefetch(const int8_t* from) { ATTEND_PREFETCH(from + bytes_ahead); }

  // `vectors` vectors of columns from column c on; `count` of each.
  template <int vectors>
  static ATTEND_ALWAYS_INLINE void quad_columns(const Chunks& chunks, int c, int count, int32_t* to) {
    for (int chunk = 0; chunk < chunks.count; ++chunk) {
      const int8_t* from = chunks.quads[chunk] + 4 * c;
      Vector low[vectors], high[vectors];
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) low[v] = high[v] = Operations::all(0);
      const Bytes* const bytes = opaque(chunks.bytes + chunk);
      const int quads = opaque(integer_chunk / 4);
      for (int k = 0; k < quads; ++k, from += 4 * ptrdiff_t(chunks.width)) {
        const Vector low_quad = Operations::all(number_at(bytes->low + 4 * k));
        const Vector high_quad = Operations::all(number_at(bytes->high + 4 * k));
        ATTEND_UNROLL
        for (int v = 0; v < vectors; ++v) {
          const int8_t* const at = from + v * 4 * lanes;
          const Vector values = Operations::load_lanes(at, count);
          prefetch(at);
          Operations::add_quads(low[v], low_quad, values);
          Operations::add_quads(high[v], high_quad, values);
        }
      }
      const Merge merge = chunks.merges[chunk];
      const auto shifts = IntegerQuads::shifts_of(merge);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) {
        IntegerQuads::merge_columns(sum_of_bytes(low[v], high[v], merge), shifts, to + v * lanes, count);
      }
    }
  }
};
