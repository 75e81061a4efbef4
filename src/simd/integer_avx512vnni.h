// The kernels of integer attention in vectors of 512 bits, with AVX-512 VNNI. A chunk of keys lies as
//
//   [quads of dimensions][32 keys][4 dimensions] of 8 bits, each 128 more than it is
//
// because the instruction that multiplies quads of bytes takes one side without a sign. Sums of scores begin at -128 times the
// sum of the query.
#pragma once

#include "integer_x86.h"

namespace attend {
namespace {

// Rows of bytes where they lie, four at a time; those to come are prefetched.
class RowsInPlace {
 public:
  explicit RowsInPlace(ptrdiff_t stride) : stride_(stride), three_(opaque(3 * stride)), ahead_(opaque(rows_ahead * stride)) {}

  ATTEND_ALWAYS_INLINE void load_four(const int8_t* from, __mmask64 bytes, __m512i (&four)[4]) const {
    const int8_t* const ahead = opaque(from + ahead_);
    four[0] = _mm512_maskz_loadu_epi8(bytes, from);
    four[1] = _mm512_maskz_loadu_epi8(bytes, from + stride_);
    four[2] = _mm512_maskz_loadu_epi8(bytes, from + 2 * stride_);
    four[3] = _mm512_maskz_loadu_epi8(bytes, from + three_);
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + stride_);
    __builtin_prefetch(ahead + 2 * stride_);
    __builtin_prefetch(ahead + three_);
  }
  ATTEND_ALWAYS_INLINE const int8_t* next(const int8_t* from) const { return opaque(from + 4 * stride_); }

 private:
#ifndef AHEAD
#define AHEAD 128
#endif
  static constexpr int rows_ahead = AHEAD;
  const ptrdiff_t stride_, three_, ahead_;
};

struct IntegerAvx512Vnni : IntegerX86 {
  static constexpr int tile_rows = 6;

  // What the scores of a row begin at, then its query from byte `query_at` on.
  using Query = int8_t;
  static constexpr int query_at = 64;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int8_t* const to = static_cast<int8_t*>(memory) + query_at;
    __m128i sums = _mm_setzero_si128();
    for (int d = 0; d < head_dim; d += 16) {
      const __m128i numbers = load_bytes(query + d, head_dim - d);
      _mm_store_si128(reinterpret_cast<__m128i*>(to + d), numbers);
      sums = _mm_dpbusd_epi32(sums, _mm_set1_epi8(1), numbers);
    }
    *static_cast<int32_t*>(memory) = -128 * int32_t(sum_of_four(sums));
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const __m128i sign = _mm_set1_epi8(-128);
    for (int k = 0; k < integer_chunk; k += 4) {
      for (int d = 0; d < head_dim; d += 16) {
        __m128i four[4];
        load_four_keys(keys, stride, k, count, d, head_dim, four);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i >= head_dim) continue;
          __m128i* const at = reinterpret_cast<__m128i*>(to + (d + 4 * i) * integer_chunk + k * 4);
          _mm_store_si128(at, _mm_xor_si128(four[i], sign));
        }
      }
    }
  }

  template <int rows>
  static void scores(const Query* const* query, const int8_t* keys, int head_dim, int32_t (*scores)[integer_chunk]) {
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

  // As scores, of one row with 32 keys where they lie: 64 dimensions of all keys, and then the next 64.
  static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim, int32_t* scores) {
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
    __m512i sums[8];
    ATTEND_UNROLL
    for (int r = 0; r < 8; ++r) sums[r] = r < rows ? _mm512_madd_epi16(weights(tile[r], scales, by, r), number(1)) : sums[0];
    IntegerX86::store(by.sum, of_eight<Sum>(sums));
  }

  // As values, of one row with 32 keys where they lie, 64 columns at a time. Bytes of four keys are brought side by side, and
  // are multiplied by the upper and by the lower bytes of their weights.
  static void values_in_place(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int width, const Merge& merge,
                              int32_t* sums) {
    alignas(32) uint8_t low_bytes[integer_chunk], high_bytes[integer_chunk];
    const __m512i words = load(weights);
    _mm256_store_si256(reinterpret_cast<__m256i*>(low_bytes), _mm512_cvtepi16_epi8(words));
    _mm256_store_si256(reinterpret_cast<__m256i*>(high_bytes), _mm512_cvtepi16_epi8(_mm512_srli_epi16(words, 8)));
    const RowsInPlace rows(stride);
    for (int c = 0; c < width; c += 64) {
      __m512i low[4], high[4];
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) low[i] = high[i] = _mm512_setzero_si512();
      const __mmask64 columns = first_bytes(width - c);
      const int8_t* from = values + c;
      for (int k = 0; k < integer_chunk; k += 4, from = rows.next(from)) {
        __m512i quads[4];
        rows.load_four(from, columns, quads);
        interleave(quads);
        const __m512i low_quad = _mm512_set1_epi32(load_number(low_bytes + k));
        const __m512i high_quad = _mm512_set1_epi32(load_number(high_bytes + k));
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          add_quads(low[i], low_quad, quads[i]);
          add_quads(high[i], high_quad, quads[i]);
        }
      }
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        low[i] = _mm512_add_epi32(_mm512_add_epi32(low[i], _mm512_slli_epi32(high[i], 8)), _mm512_set1_epi32(merge.half));
      }
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

  // Not inlined: there GCC would keep sums in memory.
  template <int rows>
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width, const RowMerges& merges,
                                     int32_t* sums) {
    int c = 0;
    for (; width - c > 48; c += 64) columns<rows, 4>(weights, values + c * integer_chunk, width, c, merges, sums);
    for (; width - c > 16; c += 32) columns<rows, 2>(weights, values + c * integer_chunk, width, c, merges, sums);
    if (c < width) columns<rows, 1>(weights, values + c * integer_chunk, width, c, merges, sums);
  }

 private:
  static ATTEND_ALWAYS_INLINE __m512i load(const void* from) { return _mm512_loadu_si512(from); }
  static ATTEND_ALWAYS_INLINE void store(void* to, __m512i a) { _mm512_storeu_si512(to, a); }
  static ATTEND_ALWAYS_INLINE __mmask16 first_lanes(int count) { return count >= 16 ? 0xffff : __mmask16((1u << count) - 1); }
  static ATTEND_ALWAYS_INLINE __mmask64 first_bytes(int count) { return count >= 64 ? ~__mmask64(0) : (__mmask64(1) << count) - 1; }
  static ATTEND_ALWAYS_INLINE __m512i both(uint32_t pair) { return _mm512_set1_epi32(int32_t(pair)); }
  static ATTEND_ALWAYS_INLINE __m512i number(uint32_t a) { return _mm512_set1_epi16(int16_t(a)); }

  // What combines all lanes of a row, in the lane of the row.
  struct Largest {
    static ATTEND_ALWAYS_INLINE __m512i of(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }
  };
  struct Sum {
    static ATTEND_ALWAYS_INLINE __m512i of(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
  };
  template <class Combined>
  static ATTEND_ALWAYS_INLINE __m256i of_eight(const __m512i (&rows)[8]) {
    __m256i halves[2];
    ATTEND_UNROLL
    for (int i = 0; i < 2; ++i) {
      const __m512i *four = rows + 4 * i;
      const __m512i a = Combined::of(_mm512_unpacklo_epi32(four[0], four[1]), _mm512_unpackhi_epi32(four[0], four[1]));
      const __m512i b = Combined::of(_mm512_unpacklo_epi32(four[2], four[3]), _mm512_unpackhi_epi32(four[2], four[3]));
      const __m512i all = Combined::of(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
      halves[i] = _mm512_castsi512_si256(Combined::of(all, _mm512_shuffle_i32x4(all, all, 0x4e)));
    }
    const __m256i low = _mm256_permute2x128_si256(halves[0], halves[1], 0x20);
    const __m256i high = _mm256_permute2x128_si256(halves[0], halves[1], 0x31);
    return _mm512_castsi512_si256(Combined::of(_mm512_castsi256_si512(low), _mm512_castsi256_si512(high)));
  }

  // weight_of, of 32 keys.
  static ATTEND_ALWAYS_INLINE __m512i weights(int32_t* row, const RowScales& scales, const RowWeights& by, int r) {
    const __m512i largest = _mm512_set1_epi32(by.largest[r]);
    const __m128i right = _mm_cvtsi32_si128(scales.right[r]);
    const __m512i low = _mm512_srl_epi32(_mm512_sub_epi32(largest, load(row)), right);
    const __m512i high = _mm512_srl_epi32(_mm512_sub_epi32(largest, load(row + 16)), right);
    // Distances from the largest score. What has more than 16 bits is past the end anyway.
    const __m512i distance =
        _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _mm512_packus_epi32(low, high));
    const __m512i steps = _mm512_sll_epi16(distance, _mm_cvtsi32_si128(scales.left[r]));
    const __m512i t = _mm512_add_epi16(_mm512_mulhi_epu16(steps, both(scales.factors[r])), both(by.fractions[r]));
    // x * 2^5, so that a product's upper half is (x * c) >> 11.
    const __m512i x = _mm512_slli_epi16(t, 16 - weight_octave_bits);
    __m512i power = _mm512_sub_epi16(number(exp2_c2), _mm512_mulhi_epu16(x, number(exp2_c3)));
    power = _mm512_sub_epi16(number(exp2_c1), _mm512_mulhi_epu16(x, power));
    power = _mm512_sub_epi16(number(exp2_c0), _mm512_mulhi_epu16(x, power));
    const __m512i shifted = _mm512_srlv_epi16(power, _mm512_srli_epi16(t, weight_octave_bits));
    const __mmask32 counts = _mm512_cmplt_epu16_mask(distance, both(scales.ends[r]));
    const __m512i weight = _mm512_maskz_avg_epu16(counts, shifted, _mm512_setzero_si512());  // (shifted + 1) >> 1
    store(row, weight);
    return weight;
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
    const __mmask16 all = 0xffff, some = first_lanes(width - c - 16 * (vectors - 1));
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      int32_t* const at = sums + r * ptrdiff_t(width) + c;
      const Shifts shifts = shifts_of(merges[r]);
      ATTEND_UNROLL
      for (int v = 0; v < vectors; ++v) merge_columns(added[r][v], shifts, at + 16 * v, v == vectors - 1 ? some : all);
    }
  }
  // In assembly, because GCC copies what the intrinsic adds to.
  static ATTEND_ALWAYS_INLINE void add_products(__m512i& sum, __m512i values, __m512i weights) {
    __asm__("vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(values), "v"(weights));
  }
  static ATTEND_ALWAYS_INLINE void add_quads(__m512i& sum, __m512i bytes, __m512i signed_bytes) {
    __asm__("vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(bytes), "v"(signed_bytes));
  }

  // Bytes of four rows: row i of the result has, in quarter q, those of columns 16 q + 4 i … 16 q + 4 i + 3, four rows each.
  static ATTEND_ALWAYS_INLINE void interleave(__m512i (&rows)[4]) {
    const __m512i low_01 = _mm512_unpacklo_epi8(rows[0], rows[1]), high_01 = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const __m512i low_23 = _mm512_unpacklo_epi8(rows[2], rows[3]), high_23 = _mm512_unpackhi_epi8(rows[2], rows[3]);
    rows[0] = _mm512_unpacklo_epi16(low_01, low_23);
    rows[1] = _mm512_unpackhi_epi16(low_01, low_23);
    rows[2] = _mm512_unpacklo_epi16(high_01, high_23);
    rows[3] = _mm512_unpackhi_epi16(high_01, high_23);
  }

  // Quarter q of row i becomes quarter i of row q.
  static ATTEND_ALWAYS_INLINE void transpose_quarters(__m512i (&rows)[4]) {
    const __m512i even_01 = _mm512_shuffle_i32x4(rows[0], rows[1], 0x88), odd_01 = _mm512_shuffle_i32x4(rows[0], rows[1], 0xdd);
    const __m512i even_23 = _mm512_shuffle_i32x4(rows[2], rows[3], 0x88), odd_23 = _mm512_shuffle_i32x4(rows[2], rows[3], 0xdd);
    rows[0] = _mm512_shuffle_i32x4(even_01, even_23, 0x88);
    rows[1] = _mm512_shuffle_i32x4(odd_01, odd_23, 0x88);
    rows[2] = _mm512_shuffle_i32x4(even_01, even_23, 0xdd);
    rows[3] = _mm512_shuffle_i32x4(odd_01, odd_23, 0xdd);
  }

  // Sums of products of a query with four keys: each quarter of the result has some of each sum.
  static ATTEND_ALWAYS_INLINE __m512i scores_of_four(__m512i query, const int8_t* keys, const RowsInPlace& rows, __mmask64 dims) {
    __m512i four[4];
    rows.load_four(keys, dims, four);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) {
      four[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_xor_si512(four[i], _mm512_set1_epi8(-128)), query);
    }
    const __m512i a = sums_of_pairs(four[0], four[1]), b = sums_of_pairs(four[2], four[3]);
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  }
  static ATTEND_ALWAYS_INLINE __m512i sums_of_pairs(__m512i a, __m512i b) {
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  }

  static ATTEND_ALWAYS_INLINE void merge_columns(__m512i added, const Shifts& shifts, int32_t* sums, __mmask16 lanes) {
    const __m512i before = _mm512_maskz_loadu_epi32(lanes, sums);
    const __m512i after = _mm512_add_epi32(_mm512_sra_epi32(before, shifts.total), _mm512_sra_epi32(added, shifts.chunk));
    _mm512_mask_storeu_epi32(sums, lanes, after);
  }
};

}  // namespace
}  // namespace attend
