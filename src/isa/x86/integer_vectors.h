// Vectors of 128 and 256 bits on x86 by one name for each operation, and what integer attention makes of them at every length:
// bytes and numbers of several rows brought side by side, lanes of several rows added up. integer_vectors_512.h has the names
// of 512 bits, which must be known before the templates below.
#ifndef ATTEND_ISA_X86_INTEGER_VECTORS_H
#define ATTEND_ISA_X86_INTEGER_VECTORS_H

#include "../../numerics/arithmetic.h"
#ifdef ATTEND_AVX512
#include "integer_vectors_512.h"
#endif

namespace attend::ATTEND_ISA {
namespace {

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

// Four rows, 128 bits of each by themselves: row i of the result has quad i of every row.
template <class Vector>
ATTEND_ALWAYS_INLINE void transpose_quads(Vector (&rows)[4]) {
  const Vector low_01 = low_32(rows[0], rows[1]), high_01 = high_32(rows[0], rows[1]);
  const Vector low_23 = low_32(rows[2], rows[3]), high_23 = high_32(rows[2], rows[3]);
  rows[0] = low_64(low_01, low_23);
  rows[1] = high_64(low_01, low_23);
  rows[2] = low_64(high_01, high_23);
  rows[3] = high_64(high_01, high_23);
}

// Likewise of bytes: row i of the result has, in its 128 bits number q, bytes 16 q + 4 i … 16 q + 4 i + 3, each of all four
// rows.
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

// Combines the lanes of four rows: those of row i in lane i of each 128 bits.
template <class Combined, class Vector>
ATTEND_ALWAYS_INLINE Vector of_four(const Vector* rows) {
  const Vector a = Combined::combine(low_32(rows[0], rows[1]), high_32(rows[0], rows[1]));
  const Vector b = Combined::combine(low_32(rows[2], rows[3]), high_32(rows[2], rows[3]));
  return Combined::combine(low_64(a, b), high_64(a, b));
}

// Combines the lanes of eight rows: all of row i in lane i.
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i of_halves(__m256i first, __m256i second) {
  return Combined::combine(_mm256_permute2x128_si256(first, second, 0x20), _mm256_permute2x128_si256(first, second, 0x31));
}
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i of_eight(const __m256i (&rows)[8]) {
  return of_halves<Combined>(of_four<Combined>(rows), of_four<Combined>(rows + 4));
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
