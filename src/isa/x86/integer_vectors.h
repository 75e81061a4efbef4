// Vectors on x86 by one name for each operation, and what integer attention makes of them at every length: bytes and numbers of
// several rows brought side by side, lanes of several rows added up.

ATTEND_ALWAYS_INLINE __m128i low_32(__m128i a, __m128i b) { return _mm_unpacklo_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m128i high_32(__m128i a, __m128i b) { return _mm_unpackhi_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m128i low_64(__m128i a, __m128i b) { return _mm_unpacklo_epi64(a, b); }
ATTEND_ALWAYS_INLINE __m128i high_64(__m128i a, __m128i b) { return _mm_unpackhi_epi64(a, b); }

ATTEND_ALWAYS_INLINE __m256i low_8(__m256i a, __m256i b) { return _mm256_unpacklo_epi8(a, b); }
ATTEND_ALWAYS_INLINE __m256i high_8(__m256i a, __m256i b) { return _mm256_unpackhi_epi8(a, b); }
ATTEND_ALWAYS_INLINE __m256i low_16(__m256i a, __m256i b) { return _mm256_unpacklo_epi16(a, b); }
ATTEND_ALWAYS_INLINE __m256i high_16(__m256i a, __m256i b) { return _mm256_unpackhi_epi16(a, b); }
ATTEND_ALWAYS_INLINE __m256i low_32(__m256i a, __m256i b) { return _mm256_unpacklo_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m256i high_32(__m256i a, __m256i b) { return _mm256_unpackhi_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m256i low_64(__m256i a, __m256i b) { return _mm256_unpacklo_epi64(a, b); }
ATTEND_ALWAYS_INLINE __m256i high_64(__m256i a, __m256i b) { return _mm256_unpackhi_epi64(a, b); }
ATTEND_ALWAYS_INLINE __m256i sum(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m256i larger(__m256i a, __m256i b) { return _mm256_max_epi32(a, b); }

#ifdef ATTEND_AVX512
ATTEND_ALWAYS_INLINE __m512i low_8(__m512i a, __m512i b) { return _mm512_unpacklo_epi8(a, b); }
ATTEND_ALWAYS_INLINE __m512i high_8(__m512i a, __m512i b) { return _mm512_unpackhi_epi8(a, b); }
ATTEND_ALWAYS_INLINE __m512i low_16(__m512i a, __m512i b) { return _mm512_unpacklo_epi16(a, b); }
ATTEND_ALWAYS_INLINE __m512i high_16(__m512i a, __m512i b) { return _mm512_unpackhi_epi16(a, b); }
ATTEND_ALWAYS_INLINE __m512i low_32(__m512i a, __m512i b) { return _mm512_unpacklo_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m512i high_32(__m512i a, __m512i b) { return _mm512_unpackhi_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m512i low_64(__m512i a, __m512i b) { return _mm512_unpacklo_epi64(a, b); }
ATTEND_ALWAYS_INLINE __m512i high_64(__m512i a, __m512i b) { return _mm512_unpackhi_epi64(a, b); }
ATTEND_ALWAYS_INLINE __m512i sum(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
ATTEND_ALWAYS_INLINE __m512i larger(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }
#endif

// Four rows, 128 bits of each by themselves: row i of the result has lane i of every row.
template <class Vector>
ATTEND_ALWAYS_INLINE void transpose_32(Vector (&rows)[4]) {
  const Vector low_01 = low_32(rows[0], rows[1]), high_01 = high_32(rows[0], rows[1]);
  const Vector low_23 = low_32(rows[2], rows[3]), high_23 = high_32(rows[2], rows[3]);
  rows[0] = low_64(low_01, low_23);
  rows[1] = high_64(low_01, low_23);
  rows[2] = low_64(high_01, high_23);
  rows[3] = high_64(high_01, high_23);
}

// The same with bytes: row i has, in its 128 bits number q, bytes 16 q + 4 i … 16 q + 4 i + 3, each of all four rows.
template <class Vector>
ATTEND_ALWAYS_INLINE void interleave_bytes(Vector (&rows)[4]) {
  const Vector low_01 = low_8(rows[0], rows[1]), high_01 = high_8(rows[0], rows[1]);
  const Vector low_23 = low_8(rows[2], rows[3]), high_23 = high_8(rows[2], rows[3]);
  rows[0] = low_16(low_01, low_23);
  rows[1] = high_16(low_01, low_23);
  rows[2] = low_16(high_01, high_23);
  rows[3] = high_16(high_01, high_23);
}

// The operations that combine the lanes of several rows.
struct Sum {
  template <class Vector>
  static ATTEND_ALWAYS_INLINE Vector combine(Vector a, Vector b) {
    return sum(a, b);
  }
};
struct Largest {
  template <class Vector>
  static ATTEND_ALWAYS_INLINE Vector combine(Vector a, Vector b) {
    return larger(a, b);
  }
};

// Combines the lanes of each of four rows: row i ends up in lane i of each 128 bits.
template <class Combined, class Vector>
ATTEND_ALWAYS_INLINE Vector combine_four(const Vector* rows) {
  const Vector a = Combined::combine(low_32(rows[0], rows[1]), high_32(rows[0], rows[1]));
  const Vector b = Combined::combine(low_32(rows[2], rows[3]), high_32(rows[2], rows[3]));
  return Combined::combine(low_64(a, b), high_64(a, b));
}

// Two rows of two pieces of 128 bits, or four of four: piece q of row i becomes piece i of row q.
ATTEND_ALWAYS_INLINE void transpose_128(__m256i (&rows)[2]) {
  const __m256i first = _mm256_permute2x128_si256(rows[0], rows[1], 0x20);
  rows[1] = _mm256_permute2x128_si256(rows[0], rows[1], 0x31);
  rows[0] = first;
}

// Combines the pieces of as many rows as a vector has pieces, and the lanes of eight rows: row i ends up in lane i.
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i combine_128(__m256i (&rows)[2]) {
  transpose_128(rows);
  return Combined::combine(rows[0], rows[1]);
}
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i combine_eight(const __m256i (&rows)[8]) {
  __m256i fours[2] = {combine_four<Combined>(rows), combine_four<Combined>(rows + 4)};
  return combine_128<Combined>(fours);
}

#ifdef ATTEND_AVX512
ATTEND_ALWAYS_INLINE void transpose_128(__m512i (&rows)[4]) {
  const __m512i even_01 = _mm512_shuffle_i32x4(rows[0], rows[1], 0x88), odd_01 = _mm512_shuffle_i32x4(rows[0], rows[1], 0xdd);
  const __m512i even_23 = _mm512_shuffle_i32x4(rows[2], rows[3], 0x88), odd_23 = _mm512_shuffle_i32x4(rows[2], rows[3], 0xdd);
  rows[0] = _mm512_shuffle_i32x4(even_01, even_23, 0x88);
  rows[1] = _mm512_shuffle_i32x4(odd_01, odd_23, 0x88);
  rows[2] = _mm512_shuffle_i32x4(even_01, even_23, 0xdd);
  rows[3] = _mm512_shuffle_i32x4(odd_01, odd_23, 0xdd);
}
template <class Combined>
ATTEND_ALWAYS_INLINE __m512i combine_128(__m512i (&rows)[4]) {
  transpose_128(rows);
  return Combined::combine(Combined::combine(rows[0], rows[1]), Combined::combine(rows[2], rows[3]));
}
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i half_of(__m512i a) {
  return _mm512_castsi512_si256(Combined::combine(a, _mm512_shuffle_i32x4(a, a, 0x4e)));
}
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i combine_eight(const __m512i (&rows)[8]) {
  __m256i fours[2] = {half_of<Combined>(combine_four<Combined>(rows)), half_of<Combined>(combine_four<Combined>(rows + 4))};
  return combine_128<Combined>(fours);
}
#endif

// The operations of 256 bits for IntegerPairs, but for add_pairs.
struct Vectors256 {
  using Vector = __m256i;
  static constexpr int lanes = 8, weighed_rows = 3;
  static ATTEND_ALWAYS_INLINE __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static ATTEND_ALWAYS_INLINE void store(void* to, __m256i a) { _mm256_storeu_si256(static_cast<__m256i*>(to), a); }
  static ATTEND_ALWAYS_INLINE __m256i load_lanes(const void* from, int count) {
    return count >= lanes ? load(from) : _mm256_maskload_epi32(static_cast<const int*>(from), first(count));
  }
  static ATTEND_ALWAYS_INLINE void store_lanes(void* to, __m256i a, int count) {
    _mm256_maskstore_epi32(static_cast<int*>(to), first(count), a);
  }
  static ATTEND_ALWAYS_INLINE __m256i all(int32_t a) { return _mm256_set1_epi32(a); }
  static ATTEND_ALWAYS_INLINE __m256i difference(__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); }
  static ATTEND_ALWAYS_INLINE __m256i shift_down(__m256i a, __m256i by) { return _mm256_srav_epi32(a, by); }
  static ATTEND_ALWAYS_INLINE __m256i shift_down_unsigned(__m256i a, __m256i by) { return _mm256_srlv_epi32(a, by); }

  static ATTEND_ALWAYS_INLINE __m256i words(uint32_t a) { return _mm256_set1_epi16(int16_t(a)); }
  static ATTEND_ALWAYS_INLINE __m256i pack(__m256i a, __m256i b) { return _mm256_packus_epi32(a, b); }
  static ATTEND_ALWAYS_INLINE __m256i shift_words(__m256i a, int by) { return _mm256_sll_epi16(a, _mm_cvtsi32_si128(by)); }
  static ATTEND_ALWAYS_INLINE __m256i add_words(__m256i a, __m256i b) { return _mm256_add_epi16(a, b); }
  static ATTEND_ALWAYS_INLINE __m256i difference_of_words(__m256i a, __m256i b) { return _mm256_sub_epi16(a, b); }
  static ATTEND_ALWAYS_INLINE __m256i high_product(__m256i a, __m256i b) { return _mm256_mulhi_epu16(a, b); }
  static ATTEND_ALWAYS_INLINE __m256i sum_of_pairs(__m256i a) { return _mm256_madd_epi16(a, words(1)); }

  using Ends = __m256i;
  static ATTEND_ALWAYS_INLINE __m256i ends_of(__m256i distances, __m256i end) {
    return _mm256_cmpeq_epi16(_mm256_max_epu16(distances, end), distances);
  }
  static ATTEND_ALWAYS_INLINE __m256i mark_ends(__m256i t, __m256i ends) { return _mm256_or_si256(t, ends); }
  // There is no shift of 16 bits by lanes: 2^(15 - n) comes from a table of bytes, which has zeros for negative n.
  static ATTEND_ALWAYS_INLINE __m256i power_of(__m256i t) {
    const __m256i n = _mm256_srai_epi16(t, weight_octave_bits - 8);  // in the upper bytes
    const __m256i upper_bytes =
        _mm256_set_epi64x(0x0f0f0d0d0b0b0909, 0x0707050503030101, 0x0f0f0d0d0b0b0909, 0x0707050503030101);
    const __m256i table = _mm256_setr_epi64x(0, 0x0102040810204080, 0, 0x0102040810204080);
    return _mm256_shuffle_epi8(table, _mm256_xor_si256(_mm256_shuffle_epi8(n, upper_bytes), words(0x0800)));
  }
  static ATTEND_ALWAYS_INLINE __m256i fraction_of(__m256i t) { return _mm256_slli_epi16(t, 16 - weight_octave_bits); }
  // Of a - 2^16, which the same 16 bits are with a sign, and the power is added.
  static ATTEND_ALWAYS_INLINE __m256i times_power(__m256i a, __m256i power, __m256i /*ends*/) {
    return _mm256_add_epi16(_mm256_mulhrs_epi16(a, _mm256_srli_epi16(power, 1)), power);
  }

 private:
  static ATTEND_ALWAYS_INLINE __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};
