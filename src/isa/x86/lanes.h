// The common operations of the x86 instruction sets: rows of tiles, transposes, and the sum of lanes. To be included where AVX
// is switched on.
#ifndef ATTEND_ISA_X86_LANES_H
#define ATTEND_ISA_X86_LANES_H

#include <stddef.h>

#include "intrinsics.h"

namespace attend::ATTEND_ISA {
namespace {

struct X86Lanes {
  static constexpr int tile_rows = 12;
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }

  static constexpr int transposed = 8, columns_of_four = 8;

  static __m256 load_row_pair(const float* low, const float* high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
  }

  // to[16 i + j] = rows[j][column + i] for 8 x 8 floats: rows j and j + 4 side by side in a vector, then 4 x 4 transposes
  // within its halves.
  static void transpose(const float* const* rows, int first_column, float* to) {
    ptrdiff_t column = first_column;
    for (int half = 0; half < 2; ++half, column += 4, to += 4 * 16) {
      const __m256 r0 = load_row_pair(rows[0] + column, rows[4] + column);
      const __m256 r1 = load_row_pair(rows[1] + column, rows[5] + column);
      const __m256 r2 = load_row_pair(rows[2] + column, rows[6] + column);
      const __m256 r3 = load_row_pair(rows[3] + column, rows[7] + column);
      const __m256 low01 = _mm256_unpacklo_ps(r0, r1), high01 = _mm256_unpackhi_ps(r0, r1);
      const __m256 low23 = _mm256_unpacklo_ps(r2, r3), high23 = _mm256_unpackhi_ps(r2, r3);
      _mm256_storeu_ps(to, _mm256_shuffle_ps(low01, low23, 0x44));
      _mm256_storeu_ps(to + 16, _mm256_shuffle_ps(low01, low23, 0xee));
      _mm256_storeu_ps(to + 32, _mm256_shuffle_ps(high01, high23, 0x44));
      _mm256_storeu_ps(to + 48, _mm256_shuffle_ps(high01, high23, 0xee));
    }
  }

  // to[4 i + j] = rows[j][column + i] for 4 rows of 8 floats.
  static void transpose_four(const float* const* rows, int first_column, float* to) {
    const ptrdiff_t column = first_column;
    const __m256 r0 = _mm256_loadu_ps(rows[0] + column), r1 = _mm256_loadu_ps(rows[1] + column);
    const __m256 r2 = _mm256_loadu_ps(rows[2] + column), r3 = _mm256_loadu_ps(rows[3] + column);
    const __m256 low01 = _mm256_unpacklo_ps(r0, r1), high01 = _mm256_unpackhi_ps(r0, r1);
    const __m256 low23 = _mm256_unpacklo_ps(r2, r3), high23 = _mm256_unpackhi_ps(r2, r3);
    const __m256 c04 = _mm256_shuffle_ps(low01, low23, 0x44), c15 = _mm256_shuffle_ps(low01, low23, 0xee);
    const __m256 c26 = _mm256_shuffle_ps(high01, high23, 0x44), c37 = _mm256_shuffle_ps(high01, high23, 0xee);
    _mm256_storeu_ps(to, _mm256_permute2f128_ps(c04, c15, 0x20));
    _mm256_storeu_ps(to + 8, _mm256_permute2f128_ps(c26, c37, 0x20));
    _mm256_storeu_ps(to + 16, _mm256_permute2f128_ps(c04, c15, 0x31));
    _mm256_storeu_ps(to + 24, _mm256_permute2f128_ps(c26, c37, 0x31));
  }

  // Lanes added in pairs: (i, i+4), then (i, i+2), then the two that are left.
  static float sum_of_8(__m256 a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
