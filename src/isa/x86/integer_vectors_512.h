// Vectors of 512 bits by the names of integer_vectors.h.
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
