// The kernels of integer attention with AVX-VNNI, whose instructions add four products of bytes, or two of 16 bits.
#pragma once

#include "../x86/integer_key_bytes.h"
#include "../x86/integer_quads.h"
#include "../x86/integers_256.h"

namespace attend::ATTEND_ISA {
namespace {

struct DotProduct {
  static ATTEND_ALWAYS_INLINE void add(__m256i& sum, __m256i a, __m256i b) {
    __asm__("%{vex%} vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+x"(sum) : "x"(a), "x"(b));
  }
};

// For PanelKernels.
struct Quads256 {
  using Vector = __m256i;
  static constexpr int lanes = 8;
  static ATTEND_ALWAYS_INLINE __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static ATTEND_ALWAYS_INLINE __m256i load_lanes(const void* from, int count) {
    if (count >= lanes) return load(from);
    return _mm256_maskload_epi32(static_cast<const int*>(from), first(count));
  }
  static ATTEND_ALWAYS_INLINE void store_lanes(void* to, __m256i a, int count) {
    if (count >= lanes) return _mm256_storeu_si256(static_cast<__m256i*>(to), a);
    _mm256_maskstore_epi32(static_cast<int*>(to), first(count), a);
  }
  static ATTEND_ALWAYS_INLINE __m256i all(int32_t a) { return _mm256_set1_epi32(a); }
  static ATTEND_ALWAYS_INLINE __m256i flip(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi8(-128)); }
  static ATTEND_ALWAYS_INLINE __m256i shift_up(__m256i a) { return _mm256_slli_epi32(a, 8); }
  static ATTEND_ALWAYS_INLINE __m256i shift_down(__m256i a, __m256i by) { return _mm256_srav_epi32(a, by); }
  static ATTEND_ALWAYS_INLINE void add_quads(__m256i& sum, __m256i bytes, __m256i signed_bytes) {
    __asm__("%{vex%} vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+x"(sum) : "x"(bytes), "x"(signed_bytes));
  }
  static ATTEND_ALWAYS_INLINE void cut_weights(const int32_t* weights, uint8_t* low, uint8_t* high) {
    const __m256i first = load(weights), second = load(weights + 8), byte = _mm256_set1_epi16(0xff);
    const __m256i in_order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
    const __m256i lower = _mm256_packus_epi16(_mm256_and_si256(first, byte), _mm256_and_si256(second, byte));
    const __m256i upper = _mm256_packus_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8));
    store_lanes(low, _mm256_permutevar8x32_epi32(lower, in_order), lanes);
    store_lanes(high, _mm256_permutevar8x32_epi32(upper, in_order), lanes);
  }

 private:
  static ATTEND_ALWAYS_INLINE __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

struct IntegerAvxVnni : Integer256<DotProduct>, IntegerKeyBytes {
  static constexpr int in_place_step = 16;

  // Not inlined: there GCC would keep sums in memory.
  template <int rows>
  ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, int head_dim,
                                     int32_t (*scores)[integer_chunk]) {
    for (int half = 0; half < integer_chunk; half += 16) {
      __m256i sums[rows][2];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm256_set1_epi32(load_number(query[r]));
      const int8_t* from = keys + half * 4;
      for (int d = 0; d < head_dim; d += 4, from += 4 * integer_chunk) {
        const __m256i low = load(from), high = load(from + 32);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) {
          const __m256i quad = _mm256_set1_epi32(load_number(query[r] + query_at + d));
          add_quads(sums[r][0], low, quad);
          add_quads(sums[r][1], high, quad);
        }
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        store(scores[r] + half, sums[r][0]);
        store(scores[r] + half + 8, sums[r][1]);
      }
    }
  }

  // As scores, of one row with 32 keys where they lie: 32 dimensions of all keys, and then the next 32.
  ATTEND_NOINLINE static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim,
                                              int32_t* scores) {
    const RowsInPlace rows(stride);
    __m256i sums[4];
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) sums[i] = _mm256_set1_epi32(load_number(query));
    for (int d = 0; d < head_dim; d += 32) {
      const int8_t* from = keys + d;
      const int dims = head_dim - d;
      const __m256i numbers = load_some(query + query_at + d, dims);
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        const __m256i first = scores_of_four(numbers, from, rows, dims);
        from = rows.next(from);
        const __m256i second = scores_of_four(numbers, from, rows, dims);
        from = rows.next(from);
        sums[i] = _mm256_add_epi32(sums[i], _mm256_add_epi32(_mm256_permute2x128_si256(first, second, 0x20),
                                                             _mm256_permute2x128_si256(first, second, 0x31)));
      }
    }
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) store(scores + 8 * i, sums[i]);
  }

  // As values, of one row with 32 keys where they lie, 32 columns at a time. Bytes of four keys are brought side by side, and
  // are multiplied by the upper and by the lower bytes of their weights.
  ATTEND_NOINLINE static void values_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width,
                                              const Merge& merge, int32_t* sums) {
    alignas(32) uint8_t low_bytes[integer_chunk], high_bytes[integer_chunk];
    Quads256::cut_weights(weights, low_bytes, high_bytes);
    const RowsInPlace rows(stride);
    const Shifts shifts = shifts_of(merge);
    for (int c = 0; c < width; c += 32) {
      const int columns = width - c;
      __m256i low[4], high[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) low[i] = high[i] = _mm256_setzero_si256();
      const int8_t* from = values + c;
      for (int k = 0; k < integer_chunk; k += 4, from = rows.next(from)) {
        __m256i quads[4];
        rows.prefetch_four(from);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) quads[i] = load_some(rows.row(from, i), columns);
        interleave_bytes(quads);
        const __m256i low_quad = _mm256_set1_epi32(load_number(low_bytes + k));
        const __m256i high_quad = _mm256_set1_epi32(load_number(high_bytes + k));
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          add_quads(low[i], low_quad, quads[i]);
          add_quads(high[i], high_quad, quads[i]);
        }
      }
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        low[i] = _mm256_add_epi32(_mm256_add_epi32(low[i], _mm256_slli_epi32(high[i], 8)), _mm256_set1_epi32(merge.half));
      }
      merge_columns(_mm256_permute2x128_si256(low[0], low[1], 0x20), shifts, sums + c, columns);
      merge_columns(_mm256_permute2x128_si256(low[2], low[3], 0x20), shifts, sums + c + 8, columns - 8);
      merge_columns(_mm256_permute2x128_si256(low[0], low[1], 0x31), shifts, sums + c + 16, columns - 16);
      merge_columns(_mm256_permute2x128_si256(low[2], low[3], 0x31), shifts, sums + c + 24, columns - 24);
    }
  }

  static constexpr bool reads_panels = true;
  ATTEND_NOINLINE static void scores_in_panels(const Query* query, const int8_t* const* panels, int count, int head_dim,
                                               int32_t (*scores)[integer_chunk]) {
    PanelKernels<Quads256>::scores(load_number(query), query + query_at, panels, count, head_dim, scores);
  }
  ATTEND_NOINLINE static void values_in_panels(int32_t (*weights)[integer_chunk], const int8_t* const* panels, int count,
                                               int width, const RowMerges& merges, int32_t* sums) {
    PanelKernels<Quads256>::values(weights, panels, count, width, merges, sums);
  }

 private:
  static ATTEND_ALWAYS_INLINE void add_quads(__m256i& sum, __m256i bytes, __m256i signed_bytes) {
    Quads256::add_quads(sum, bytes, signed_bytes);
  }

  // 32 bytes, or 16 and zeros.
  static ATTEND_ALWAYS_INLINE __m256i load_some(const int8_t* from, int count) {
    if (count >= 32) return load(from);
    return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  // Sums of products of a query with four keys: each half of the result has some of each sum.
  static ATTEND_ALWAYS_INLINE __m256i scores_of_four(__m256i query, const int8_t* keys, const RowsInPlace& rows, int dims) {
    __m256i four[4];
    rows.prefetch_four(keys);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const __m256i key = load_some(rows.row(keys, i), dims);
      four[i] = _mm256_setzero_si256();
      add_quads(four[i], _mm256_xor_si256(key, _mm256_set1_epi8(-128)), query);
    }
    return of_four<Sum>(four);
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
