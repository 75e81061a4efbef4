// Integer attention with AVX-VNNI, whose instructions add four products of bytes, or two of 16 bits.

struct Quads256 : Vectors256 {
  static ATTEND_ALWAYS_INLINE void add_pairs(__m256i& sum, __m256i a, __m256i b) {
#if ATTEND_ASSEMBLY
    __asm__("%{vex%} vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+x"(sum) : "x"(a), "x"(b));
#else
    sum = _mm256_dpwssd_avx_epi32(sum, a, b);
#endif
  }
  static ATTEND_ALWAYS_INLINE void add_pairs_of_two(__m256i (&sums)[2], __m256i low, __m256i high, int32_t pair) {
    const __m256i both = all(pair);
    add_pairs(sums[0], low, both);
    add_pairs(sums[1], high, both);
  }
  static ATTEND_ALWAYS_INLINE void add_quads(__m256i& sum, __m256i bytes, __m256i signed_bytes) {
#if ATTEND_ASSEMBLY
    __asm__("%{vex%} vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+x"(sum) : "x"(bytes), "x"(signed_bytes));
#else
    sum = _mm256_dpbusd_avx_epi32(sum, bytes, signed_bytes);
#endif
  }
  static ATTEND_ALWAYS_INLINE void add_quads_of_tile(__m256i& sum, __m256i bytes, __m256i signed_bytes) {
    add_quads(sum, bytes, signed_bytes);
  }
  static ATTEND_ALWAYS_INLINE __m256i flip(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi8(-128)); }
  static ATTEND_ALWAYS_INLINE __m256i shift_up(__m256i a) { return _mm256_slli_epi32(a, 8); }
  static ATTEND_ALWAYS_INLINE void cut_weights(const int32_t* weights, uint8_t* low, uint8_t* high) {
    const __m256i first = load(weights), second = load(weights + 8), byte = _mm256_set1_epi16(0xff);
    const __m256i in_order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
    const __m256i lower = _mm256_packus_epi16(_mm256_and_si256(first, byte), _mm256_and_si256(second, byte));
    const __m256i upper = _mm256_packus_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8));
    store(low, _mm256_permutevar8x32_epi32(lower, in_order));
    store(high, _mm256_permutevar8x32_epi32(upper, in_order));
  }

  // 32 bytes, or 16 and zeros.
  static ATTEND_ALWAYS_INLINE int bytes_of(int count) { return count; }
  static ATTEND_ALWAYS_INLINE __m256i load_some(const int8_t* from, int count) {
    if (count >= 32) return load(from);
    return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static ATTEND_ALWAYS_INLINE void in_order(__m256i (&rows)[4]) {
    __m256i first[2] = {rows[0], rows[1]}, last[2] = {rows[2], rows[3]};
    transpose_128(first);
    transpose_128(last);
    rows[0] = first[0], rows[1] = last[0], rows[2] = first[1], rows[3] = last[1];
  }
};

struct IntegerAvxVnni : IntegerQuads<Quads256> {
  static constexpr int tile_rows = 6, in_place_step = 16;
};
