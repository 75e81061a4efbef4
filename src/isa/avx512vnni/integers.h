// The kernels of integer attention in vectors of 512 bits, with AVX-512 VNNI.
#pragma once

#include "in_place.h"

namespace attend::ATTEND_ISA {
namespace {

struct IntegerAvx512Vnni : IntegerAvx512InPlace {
  static constexpr int tile_rows = 8;

  // Not inlined: there pointers to queries would be too many for the registers.
  template <int rows>
  ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, int head_dim,
                                     int32_t (*scores)[integer_chunk]) {
    __m512i sums[rows][2];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm512_set1_epi32(load_number(query[r]));
    for (int d = 0; d < head_dim; d += 4, keys += 4 * integer_chunk) {
      const __m512i low = load(keys), high = load(keys + 64);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        const __m512i quad = _mm512_set1_epi32(load_number(query[r] + query_at + d));
        sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], low, quad);
        sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], high, quad);
      }
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      store(scores[r], sums[r][0]);
      store(scores[r] + 16, sums[r][1]);
    }
  }

  template <int rows>
  static ATTEND_ALWAYS_INLINE void references(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& to) {
    __m512i largest[8];
    ATTEND_UNROLL
    for (int r = 0; r < 8; ++r) largest[r] = r < rows ? _mm512_max_epi32(load(tile[r]), load(tile[r] + 16)) : largest[0];
    references_of(of_eight<Largest>(largest), scales, to);
  }

  // weight_of of 32 keys of each row.
  template <int rows>
  static ATTEND_ALWAYS_INLINE void weights(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& by) {
    constexpr int together = 4, rest = rows % together;
    __m512i sums[8];
    for (int r = 0; r + together <= rows; r += together) weights_of<together>(tile, scales, by, r, sums);
    if constexpr (rest > 0) weights_of<rest>(tile, scales, by, rows - rest, sums);
    ATTEND_UNROLL
    for (int r = rows; r < 8; ++r) sums[r] = sums[0];
    IntegerX86::store(by.sum, of_eight<Sum>(sums));
  }

  // Not inlined: there GCC would keep sums in memory.
  template <int rows>
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width,
                                     const RowMerges& merges, int32_t* sums) {
    int c = 0;
    // Of more rows, sums of four vectors would be too many for the registers.
    if constexpr (rows <= 6)
      for (; width - c > 48; c += 64) columns<rows, 4>(weights, values + c * integer_chunk, width, c, merges, sums);
    for (; width - c > 16; c += 32) columns<rows, 2>(weights, values + c * integer_chunk, width, c, merges, sums);
    if (c < width) columns<rows, 1>(weights, values + c * integer_chunk, width, c, merges, sums);
  }

 private:
  static ATTEND_ALWAYS_INLINE __m512i both(uint32_t pair) { return _mm512_set1_epi32(int32_t(pair)); }
  static ATTEND_ALWAYS_INLINE __m512i number(uint32_t a) { return _mm512_set1_epi16(int16_t(a)); }

  // As in x86/integers_256.h, which explains why rows are computed step by step.
  template <int rows>
  ATTEND_NOINLINE static void weights_of(int32_t (*tile)[integer_chunk], const RowScales& scales, const RowWeights& by,
                                         int first, __m512i* sums) {
    __m512i t[rows], x[rows], power[rows];
    __mmask32 counts[rows];
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) {
      const int r = first + i;
      const __m512i largest = _mm512_set1_epi32(by.largest[r]);
      const __m512i right = _mm512_set1_epi32(scales.right[r]);
      const __m512i low = _mm512_srlv_epi32(_mm512_sub_epi32(largest, load(tile[r])), right);
      const __m512i high = _mm512_srlv_epi32(_mm512_sub_epi32(largest, load(tile[r] + 16)), right);
      // Distances from the largest score. What has more than 16 bits is past the end anyway.
      t[i] = _mm512_packus_epi32(low, high);
      counts[i] = _mm512_cmplt_epu16_mask(t[i], both(scales.ends[r]));
    }
    if (scales.any_left != 0) {  // seldom
      ATTEND_UNROLL
      for (int i = 0; i < rows; ++i) t[i] = _mm512_sll_epi16(t[i], _mm_cvtsi32_si128(scales.left[first + i]));
    }
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) t[i] = _mm512_mulhi_epu16(t[i], both(scales.factors[first + i]));
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) t[i] = _mm512_add_epi16(t[i], both(by.fractions[first + i]));
    // t * 2^5, so that a product's upper half is (x * c) >> 11.
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) x[i] = _mm512_slli_epi16(t[i], 16 - weight_octave_bits);
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) power[i] = _mm512_sub_epi16(number(exp2_c2), _mm512_mulhi_epu16(x[i], number(exp2_c3)));
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) power[i] = _mm512_sub_epi16(number(exp2_c1), _mm512_mulhi_epu16(x[i], power[i]));
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) power[i] = _mm512_sub_epi16(number(exp2_c0), _mm512_mulhi_epu16(x[i], power[i]));
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) {
      const __m512i shifted = _mm512_srlv_epi16(power[i], _mm512_srli_epi16(t[i], weight_octave_bits));
      power[i] = _mm512_maskz_avg_epu16(counts[i], shifted, _mm512_setzero_si512());  // (shifted + 1) >> 1
    }
    ATTEND_UNROLL
    for (int i = 0; i < rows; ++i) {
      store(tile[first + i], power[i]);
      sums[first + i] = _mm512_madd_epi16(power[i], number(1));
    }
  }

  // `vectors` times 16 columns from c on; there may be fewer in the last vector.
  template <int rows, int vectors>
  static ATTEND_ALWAYS_INLINE void columns(int32_t (*weights)[integer_chunk], const int16_t* values, int width, int c,
                                           const RowMerges& merges, int32_t* sums) {
    __m512i added[rows][vectors];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) added[r][v] = _mm512_set1_epi32(merges[r].half);
    }
    const int pairs = pairs_of_keys();
    for (int pair = 0; pair < pairs; ++pair, values += 32) {
      __m512i two[vectors];
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) two[v] = load(values + v * 16 * integer_chunk);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        const __m512i both = _mm512_set1_epi32(load_number(weights[r] + pair));
        ATTEND_UNROLL
        for (int v = 0; v < vectors; ++v) add_products(added[r][v], two[v], both);
      }
    }
    const __mmask16 all = 0xffff, last_mask = first_lanes(width - c - 16 * (vectors - 1));
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      int32_t* const at = sums + r * ptrdiff_t(width) + c;
      const Shifts shifts = shifts_of(merges[r]);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) merge_columns(added[r][v], shifts, at + 16 * v, v == vectors - 1 ? last_mask : all);
    }
  }
  // In assembly, because GCC copies what the intrinsic adds to.
  static ATTEND_ALWAYS_INLINE void add_products(__m512i& sum, __m512i values, __m512i weights) {
    __asm__("vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(values), "v"(weights));
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
