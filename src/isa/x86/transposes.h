// What AVX2 and AVX-512 have in common: transposes of rows, rows of tiles, and the sum of lanes.

template <class Tiles>
struct X86Transposes : Tiles {
  static constexpr int tile_rows = 12;
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }

  static constexpr int transposed = 8;

  template <class Number>
  static __m128 load_four_words(const Number* from) {
    return _mm_castsi128_ps(_mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(from))));
  }

  // By a load that repeats and a blend, as GCC compiles it: a load into one half takes three times as long on Zen 3.
  template <class Number>
  static __m256 load_row_pair(const Number* low, const Number* high) {
    const __m256i twice = _mm256_broadcastsi128_si256(_mm_castps_si128(load_four_words(high)));
    return _mm256_blend_ps(_mm256_castps128_ps256(load_four_words(low)), _mm256_castsi256_ps(twice), 0xf0);
  }

  // Of four rows of four floats in each half of four vectors: to[i] has column i.
  ATTEND_ALWAYS_INLINE static void columns_of(__m256 r0, __m256 r1, __m256 r2, __m256 r3, __m256 (&to)[4]) {
    const __m256 low01 = _mm256_unpacklo_ps(r0, r1), high01 = _mm256_unpackhi_ps(r0, r1);
    const __m256 low23 = _mm256_unpacklo_ps(r2, r3), high23 = _mm256_unpackhi_ps(r2, r3);
    to[0] = _mm256_shuffle_ps(low01, low23, 0x44);
    to[1] = _mm256_shuffle_ps(low01, low23, 0xee);
    to[2] = _mm256_shuffle_ps(high01, high23, 0x44);
    to[3] = _mm256_shuffle_ps(high01, high23, 0xee);
  }

  // to[16 i + j] = rows[j][column + i] for 8 x 8 floats: rows j and j + 4 side by side, then 4 x 4 transposes in halves.
  static void transpose(const float* const* rows, int first_column, float* to) {
    ptrdiff_t column = first_column;
    for (int half = 0; half < 2; ++half, column += 4, to += 4 * 16) {
      const auto pair = [=](int j) ATTEND_INLINE_LAMBDA { return load_row_pair(rows[j] + column, rows[j + 4] + column); };
      __m256 columns[4];
      columns_of(pair(0), pair(1), pair(2), pair(3), columns);
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) _mm256_storeu_ps(to + 16 * i, columns[i]);
    }
  }

  // to[16 i + j] = rows[stride j + i] for 16 rows of 16 bytes.
  static constexpr bool transposes_rows = true;
  // Of numbers that are widened: as many as take less time to widen 16 rows for each of them than once for all.
  static constexpr int row_tokens(int bytes) { return bytes == 2 ? 4 : 3; }
  static void transpose_rows(const Half* rows, ptrdiff_t stride, Half* to) { transpose_words(rows, stride, to); }
  static void transpose_rows(const Bfloat* rows, ptrdiff_t stride, Bfloat* to) { transpose_words(rows, stride, to); }
  static void transpose_rows(const int8_t* rows, ptrdiff_t stride, int8_t* to) {
    __m256i columns[8];
    transpose_pairs(rows, stride, columns);
    // Two columns of rows 0 to 7, and of the others.
    ATTEND_UNROLL
    for (int i = 0; i < 8; ++i) store_bytes(to + 32 * i, _mm256_permute4x64_epi64(columns[i], 0xd8));
  }

  // Lanes added in pairs: (i, i+4), then (i, i+2), then the two that are left.
  static float sum_of_8(__m256 a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  // 16 bytes of 16 rows, rows j and j + 8 side by side; then each step brings elements of vectors j and j + 4 side by side, and
  // after three of them each half of a vector has the elements of one column, or of two where they are bytes.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void transpose_pairs(const Number* rows, ptrdiff_t stride, __m256i (&to)[8]) {
    constexpr bool bytes = sizeof(Number) == 1;
    // Four addresses from which all rows are reached, or compilers compute more than there are registers for.
    const Number *const second = opaque(rows + 4 * stride), *const third = opaque(rows + 8 * stride);
    const Number* const fourth = opaque(second + 8 * stride);
    ATTEND_UNROLL
    for (int j = 0; j < 4; ++j) {
      to[j] = _mm256_castps_si256(load_row_pair(rows + j * stride, third + j * stride));
      to[j + 4] = _mm256_castps_si256(load_row_pair(second + j * stride, fourth + j * stride));
    }
    ATTEND_UNROLL
    for (int step = 0; step < 3; ++step) {
      __m256i next[8];
      ATTEND_UNROLL
      for (int j = 0; j < 4; ++j) {
        const __m256i a = to[j], b = to[j + 4];
        next[2 * j] = bytes ? _mm256_unpacklo_epi8(a, b) : _mm256_unpacklo_epi16(a, b);
        next[2 * j + 1] = bytes ? _mm256_unpackhi_epi8(a, b) : _mm256_unpackhi_epi16(a, b);
      }
      ATTEND_UNROLL
      for (int j = 0; j < 8; ++j) to[j] = next[j];
    }
  }

  template <class Number>
  static void transpose_words(const Number* rows, ptrdiff_t stride, Number* to) {
    __m256i columns[8];
    transpose_pairs(rows, stride, columns);
    ATTEND_UNROLL
    for (int i = 0; i < 8; ++i) store_bytes(to + 16 * i, columns[i]);
  }

  static void store_bytes(void* to, __m256i a) { _mm256_storeu_si256(static_cast<__m256i*>(to), a); }
};
