// Vectors of 512 bits by the names of integer_vectors_x86.h.
#pragma once

#include "../../numerics/arithmetic.h"

namespace attend::ATTEND_ISA {
namespace {

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

}  // namespace
}  // namespace attend::ATTEND_ISA

#include "../x86/integer_vectors.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Combined>
ATTEND_ALWAYS_INLINE __m256i half_of(__m512i a) {
  return _mm512_castsi512_si256(Combined::combine(a, _mm512_shuffle_i32x4(a, a, 0x4e)));
}
template <class Combined>
ATTEND_ALWAYS_INLINE __m256i of_eight(const __m512i (&rows)[8]) {
  return of_halves<Combined>(half_of<Combined>(of_four<Combined>(rows)), half_of<Combined>(of_four<Combined>(rows + 4)));
}

}  // namespace
}  // namespace attend::ATTEND_ISA
