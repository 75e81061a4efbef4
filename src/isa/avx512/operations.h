// AVX-512 (F, VL, DQ, BW): 16 lanes, 32 registers. To be included where the instruction set is switched on.

struct Avx512 : X86Transposes<ByChains<6, 4, ChainEnds::stored>> {
  using Vec = __m512;
  using Factor = Vec;
  static constexpr int lanes = 16;

  // Tiles: 6 x 4 sums, 4 vectors and a broadcast leave 3 of 32 registers. Of fewer rows than two, 8 sums must be under way.
  // 8, 6, 5, 4, 3, 2, 1
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) {
    return left <= 6 ? left : left == 7 ? 4 : left == 8 || (left > 12 && left <= 16) ? 8 : left <= 10 ? 5 : 6;
  }
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows == 1 ? 8 : rows == 5 || rows == 8 ? 2 : 4; }
  // weighed side by side
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) {
    return left == 5 ? 3 : left == 7 || left == 8 ? 4 : left < 6 ? left : 6;
  }
#ifdef ATTEND_WHOLE_CHAINS
  ATTEND_ALWAYS_INLINE static void score_chains(const float* query, ptrdiff_t stride, const float* panels,
                                                ptrdiff_t panel_stride, int chains, float* to, ptrdiff_t to_stride, bool adds) {
    chains_of_scores(query, stride, panels, panel_stride, chains, to, to_stride, adds);
  }
  ATTEND_ALWAYS_INLINE static void value_chain(const float* weights, ptrdiff_t stride, const float* values,
                                               ptrdiff_t value_stride, int keys, float* to, ptrdiff_t to_stride, bool adds) {
    chain_of_values(weights, stride, values, value_stride, keys, to, to_stride, adds);
  }
#endif

  static Vec zero() { return _mm512_setzero_ps(); }
  static Vec broadcast(float a) { return _mm512_set1_ps(a); }
  static Factor factor(float a) { return broadcast(a); }
  static Vec load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vec a) { _mm512_storeu_ps(to, a); }
  static Vec load_first(const float* from, int count) { return _mm512_maskz_loadu_ps(first(count), from); }
  static void store_first(float* to, Vec a, int count) { _mm512_mask_storeu_ps(to, first(count), a); }
  static Vec load(const Half* from) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))); }
  static Vec load(const Bfloat* from) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  static Vec load(const int8_t* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }

  static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  // With the function, GCC chooses among three forms of the instruction, and copies and spills sums of a tile.
  static Vec accumulate(Vec a, Vec b, Vec sum) {
#ifdef ATTEND_WHOLE_CHAINS
    __asm__ volatile("vfmadd231ps {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
#else
    return fma(a, b, sum);
#endif
  }
  // Beside the loops of whole chains the compiler may take operands from memory, and chooses the form, except where GCC would
  // copy sums: in tiles of scores of 1, 2, 3 and 6 rows.
  template <class Isa, bool scores = false, int rows = 1>
  ATTEND_ALWAYS_INLINE static Vec add_product(Vec a, Vec b, Vec sum) {
    return scores && (rows <= 3 || rows == 6) ? accumulate(a, b, sum) : fma(a, b, sum);
  }
  static Vec max(Vec a, Vec b) { return _mm512_max_ps(b, a); }  // a where b is NaN: the instruction gives its second operand
  static Vec higher(Vec a, Vec b) { return max(a, b); }
  static float highest_lane(Vec a) { return _mm512_reduce_max_ps(a); }
  static Vec first_of(Vec a, Vec b, int count) { return _mm512_mask_blend_ps(first(count), b, a); }

  static bool any_above(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }
  static Vec min(Vec a, Vec b) { return _mm512_min_ps(b, a); }  // a where one is NaN

  static Vec minus_reciprocal_guess(Vec a) {
    return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(int(0xfef311c7)), _mm512_castps_si512(a)));
  }

  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), otherwise, then);
  }

  static Vec where_bytes(const uint8_t* bytes, Vec a, Vec b) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    return _mm512_mask_blend_ps(_mm_test_epi8_mask(all, all), b, a);
  }
  static Vec where_bits(unsigned bits, Vec a, Vec b) { return _mm512_mask_blend_ps(__mmask16(bits), b, a); }

  static Vec two_to(Vec n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_castps_si512(n), _mm512_set1_epi32(127)), 23));
  }

  static Vec scale_by_power(Vec a, Vec n) {
    const __mmask16 kept = _mm512_cmp_ps_mask(n, _mm512_set1_ps(-125.0f), _CMP_NLT_UQ);  // true for NaN too
    return _mm512_maskz_scalef_ps(kept, a, n);
  }

  static Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest) {
    const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(n), 23);
    const Vec power = _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_castps_si512(bias)));
    return _mm512_maskz_mul_ps(_mm512_cmp_ps_mask(n, lowest, _CMP_NLT_UQ), a, power);
  }

  static void load_words(const uint8_t* from, Vec* to) {
    to[0] = _mm512_castsi512_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  static Vec broadcast_half(Half number) { return _mm512_cvtph_ps(_mm256_set1_epi16(short(number.bits))); }
  static Vec low_half(Vec words) {
    return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_castps_si512(words), _mm512_set1_epi32(15)));
  }
  static Vec high_half(Vec words) { return _mm512_cvtepi32_ps(_mm512_srli_epi32(_mm512_castps_si512(words), 4)); }

  static constexpr float four_bits_above(float power) { return power; }
  template <int at>
  static Vec four_bits(Vec words) {
    constexpr int place = place_of_bits(at);
    constexpr unsigned up = place > at ? unsigned(place - at) : 0, down = place < at ? unsigned(at - place) : 0;
    __m512i bits = _mm512_castps_si512(words);
    if (up > 0) bits = _mm512_slli_epi32(bits, up);
    if (down > 0) bits = _mm512_srli_epi32(bits, down);
    const __m512i four = _mm512_set1_epi32(15 << place), power = _mm512_set1_epi32((150 - place) << 23);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(bits, four, power, 0xea));  // bits & four | power
  }

  // 4 x 4 transposes within the quarters of four vectors.
  ATTEND_ALWAYS_INLINE static void columns_of(Vec r0, Vec r1, Vec r2, Vec r3, Vec (&to)[4]) {
    const Vec low01 = _mm512_unpacklo_ps(r0, r1), high01 = _mm512_unpackhi_ps(r0, r1);
    const Vec low23 = _mm512_unpacklo_ps(r2, r3), high23 = _mm512_unpackhi_ps(r2, r3);
    to[0] = _mm512_shuffle_ps(low01, low23, 0x44);
    to[1] = _mm512_shuffle_ps(low01, low23, 0xee);
    to[2] = _mm512_shuffle_ps(high01, high23, 0x44);
    to[3] = _mm512_shuffle_ps(high01, high23, 0xee);
  }
  template <class Number>
  ATTEND_ALWAYS_INLINE static void columns_of_rows(const Number* rows, ptrdiff_t stride, Vec (&to)[4]) {
    Vec four[4];
    load_rows(rows, stride, four);
    columns_of(four[0], four[1], four[2], four[3], to);
  }
  // to[16 i + j] = rows[stride j + i] for 16 rows of 16 bytes. Half as many shuffles as by vectors of 256 bits, which one port
  // has to do beside instructions of 512.
  template <class Number>
  static void transpose_rows(const Number* rows, ptrdiff_t stride, Number* to) {
    constexpr bool bytes = sizeof(Number) == 1;
    Vec four[4];
    load_rows(rows, stride, four);
    __m512i pairs[2][2];  // of rows, the first half of their columns and the second
    ATTEND_UNROLL
    for (int i = 0; i < 2; ++i) {
      const __m512i a = _mm512_castps_si512(four[2 * i]), b = _mm512_castps_si512(four[2 * i + 1]);
      pairs[i][0] = bytes ? _mm512_unpacklo_epi8(a, b) : _mm512_unpacklo_epi16(a, b);
      pairs[i][1] = bytes ? _mm512_unpackhi_epi8(a, b) : _mm512_unpackhi_epi16(a, b);
    }
    ATTEND_UNROLL
    for (int i = 0; i < 2; ++i) {
      const __m512i a = pairs[0][i], b = pairs[1][i];
      store_columns(to, 2 * i, bytes ? _mm512_unpacklo_epi16(a, b) : _mm512_unpacklo_epi32(a, b));
      store_columns(to, 2 * i + 1, bytes ? _mm512_unpackhi_epi16(a, b) : _mm512_unpackhi_epi32(a, b));
    }
  }

  static float sum_lanes(const float* sums) {
    return sum_of_8(_mm256_add_ps(_mm256_loadu_ps(sums), _mm256_loadu_ps(sums + 8)));
  }

 private:
  static __mmask16 first(int count) { return __mmask16((1u << count) - 1); }

  // to[j] has 16 bytes of the rows j, j + 4, j + 8 and j + 12 side by side, by loads that repeat and a mask.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void load_rows(const Number* rows, ptrdiff_t stride, Vec (&to)[4]) {
    // Four addresses from which all are reached, or compilers compute more than there are registers for.
    const Number *const second = opaque(rows + 4 * stride), *const third = opaque(rows + 8 * stride);
    const Number* const fourth = opaque(second + 8 * stride);
    to[0] = four_rows(rows, second, third, fourth);
    to[1] = four_rows(rows + stride, second + stride, third + stride, fourth + stride);
    to[2] = four_rows(rows + 2 * stride, second + 2 * stride, third + 2 * stride, fourth + 2 * stride);
    to[3] = four_rows(rows + 3 * stride, second + 3 * stride, third + 3 * stride, fourth + 3 * stride);
  }
  template <class Number>
  ATTEND_ALWAYS_INLINE static Vec four_rows(const Number* r0, const Number* r1, const Number* r2, const Number* r3) {
    const Vec two = _mm512_mask_broadcast_f32x4(_mm512_castps128_ps512(load_four_words(r0)), 0x00f0, load_four_words(r1));
    return _mm512_mask_broadcast_f32x4(_mm512_mask_broadcast_f32x4(two, 0x0f00, load_four_words(r2)), 0xf000,
                                       load_four_words(r3));
  }

  // Columns of 16 rows to their place, the n-th vector of them. Each quarter has 64 bits of columns, of four rows.
  template <class Number>
  ATTEND_ALWAYS_INLINE static void store_columns(Number* to, int n, __m512i quarters) {
    const __m512i word_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i byte_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i columns =
        sizeof(Number) == 1 ? _mm512_permutexvar_epi32(byte_order, quarters) : _mm512_permutexvar_epi64(word_order, quarters);
    _mm512_storeu_si512(to + n * int(sizeof columns / sizeof(Number)), columns);
  }
};
