// A row of integer attention with AVX-512 VNNI whose keys and values are read where they lie, in rows or in panels.
#pragma once

#include "../x86/integer_quads.h"
#include "pack.h"

namespace attend::ATTEND_ISA {
namespace {

// For PanelKernels.
struct Quads512 {
  using Vector = __m512i;
  static constexpr int lanes = 16;
  static ATTEND_ALWAYS_INLINE __m512i load(const void* from) { return _mm512_loadu_si512(from); }
  static ATTEND_ALWAYS_INLINE __m512i load_lanes(const void* from, int count) {
    return _mm512_maskz_loadu_epi32(first(count), from);
  }
  static ATTEND_ALWAYS_INLINE void store_lanes(void* to, __m512i a, int count) {
    _mm512_mask_storeu_epi32(to, first(count), a);
  }
  static ATTEND_ALWAYS_INLINE __m512i all(int32_t a) { return _mm512_set1_epi32(a); }
  static ATTEND_ALWAYS_INLINE __m512i flip(__m512i a) { return _mm512_xor_si512(a, _mm512_set1_epi8(-128)); }
  static ATTEND_ALWAYS_INLINE __m512i shift_up(__m512i a) { return _mm512_slli_epi32(a, 8); }
  static ATTEND_ALWAYS_INLINE __m512i shift_down(__m512i a, __m512i by) { return _mm512_srav_epi32(a, by); }
  static ATTEND_ALWAYS_INLINE void add_quads(__m512i& sum, __m512i bytes, __m512i signed_bytes) {
    __asm__("vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(bytes), "v"(signed_bytes));
  }
  static ATTEND_ALWAYS_INLINE void cut_weights(const int32_t* weights, uint8_t* low, uint8_t* high) {
    // Quads of weights in the order of their keys.
    const __m512i words = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), load(weights));
    _mm256_store_si256(reinterpret_cast<__m256i*>(low), _mm512_cvtepi16_epi8(words));
    _mm256_store_si256(reinterpret_cast<__m256i*>(high), _mm512_cvtepi16_epi8(_mm512_srli_epi16(words, 8)));
  }

 private:
  static ATTEND_ALWAYS_INLINE __mmask16 first(int count) { return count >= 16 ? 0xffff : __mmask16((1u << count) - 1); }
};

struct IntegerAvx512InPlace : IntegerAvx512Pack {
  static constexpr int in_place_step = 1;

  // As scores, of one row with 32 keys where they lie: 64 dimensions of all keys, and then the next 64.
  ATTEND_NOINLINE static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                                              int32_t* scores) {
    const RowsInPlace rows(stride);
    __m512i sums[2];
    sums[0] = sums[1] = _mm512_set1_epi32(load_number(query));
    for (int d = 0; d < head_dim; d += 64) {
      const __mmask64 dims = first_bytes(head_dim - d);
      const __m512i numbers = _mm512_maskz_loadu_epi8(dims, query + query_at + d);
      const int8_t* from = keys + d;
      ATTEND_UNROLL
      for (int half = 0; half < 2; ++half) {
        __m512i quarters[4];
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i, from = rows.next(from)) quarters[i] = scores_of_four(numbers, from, rows, dims);
        transpose_quarters(quarters);
        const __m512i a = _mm512_add_epi32(quarters[0], quarters[1]), b = _mm512_add_epi32(quarters[2], quarters[3]);
        sums[half] = _mm512_add_epi32(sums[half], _mm512_add_epi32(a, b));
      }
    }
    store(scores, sums[0]);
    store(scores + 16, sums[1]);
  }

  // As values, of one row with 32 keys where they lie, 64 columns at a time. Bytes of four keys are brought side by side, and
  // are multiplied by the upper and by the lower bytes of their weights.
  ATTEND_NOINLINE static void values_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width,
                                              const Merge& merge, int32_t* sums) {
    alignas(32) uint8_t low_bytes[integer_chunk], high_bytes[integer_chunk];
    Quads512::cut_weights(weights, low_bytes, high_bytes);
    const RowsInPlace rows(stride);
    for (int c = 0; c < width; c += 64) {
      __m512i low[4], high[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) low[i] = high[i] = _mm512_setzero_si512();
      const __mmask64 columns = first_bytes(width - c);
      const int8_t* from = values + c;
      for (int k = 0; k < integer_chunk; k += 4, from = rows.next(from)) {
        __m512i quads[4];
        rows.prefetch_four(from);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) quads[i] = _mm512_maskz_loadu_epi8(columns, rows.row(from, i));
        interleave_bytes(quads);
        const __m512i low_quad = _mm512_set1_epi32(load_number(low_bytes + k));
        const __m512i high_quad = _mm512_set1_epi32(load_number(high_bytes + k));
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          Quads512::add_quads(low[i], low_quad, quads[i]);
          Quads512::add_quads(high[i], high_quad, quads[i]);
        }
      }
      const __m512i half = _mm512_set1_epi32(merge.half);
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) low[i] = _mm512_add_epi32(_mm512_add_epi32(low[i], _mm512_slli_epi32(high[i], 8)), half);
      transpose_quarters(low);
      const Shifts shifts = shifts_of(merge);
      const int left = width - c;
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        if (left >= 64) merge_columns(low[i], shifts, sums + c + 16 * i, 0xffff);
        if (left < 64 && left > 16 * i) merge_columns(low[i], shifts, sums + c + 16 * i, first_lanes(left - 16 * i));
      }
    }
  }

  static constexpr bool reads_panels = true;
  ATTEND_NOINLINE static void scores_in_panels(const Query* query, const int8_t* const* panels, int count, int head_dim,
                                               int32_t (*scores)[integer_chunk]) {
    PanelKernels<Quads512>::scores(load_number(query), query + query_at, panels, count, head_dim, scores);
  }
  ATTEND_NOINLINE static void values_in_panels(int32_t (*weights)[integer_chunk], const int8_t* const* panels, int count,
                                               int width, const RowMerges& merges, int32_t* sums) {
    PanelKernels<Quads512>::values(weights, panels, count, width, merges, sums);
  }

 protected:
  struct Shifts {
    __m512i total;
    __m512i chunk;
  };
  static ATTEND_ALWAYS_INLINE Shifts shifts_of(const Merge& merge) {
    return {_mm512_set1_epi32(merge.total), _mm512_set1_epi32(merge.chunk)};
  }
  static ATTEND_ALWAYS_INLINE void merge_columns(__m512i added, const Shifts& shifts, int32_t* sums, __mmask16 lanes) {
    const __m512i before = _mm512_maskz_loadu_epi32(lanes, sums);
    const __m512i after = _mm512_add_epi32(_mm512_srav_epi32(before, shifts.total), _mm512_srav_epi32(added, shifts.chunk));
    _mm512_mask_storeu_epi32(sums, lanes, after);
  }

 private:
  // Sums of products of a query with four keys: each quarter of the result has some of each sum.
  static ATTEND_ALWAYS_INLINE __m512i scores_of_four(__m512i query, const int8_t* keys, const RowsInPlace& rows,
                                                     __mmask64 dims) {
    __m512i four[4];
    rows.prefetch_four(keys);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      four[i] = _mm512_maskz_loadu_epi8(dims, rows.row(keys, i));
      four[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_xor_si512(four[i], _mm512_set1_epi8(-128)), query);
    }
    return of_four<Sum>(four);
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
