// The packing of chunks of keys and values for integer attention with AVX-512: sixteen keys, or two rows of values, at a time.
#pragma once

#include "../x86/integer_key_bytes.h"

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

struct IntegerAvx512Pack : IntegerX86, IntegerKeyBytes {
  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const __m512i sign = _mm512_set1_epi8(-128);
    for (int k = 0; k < integer_chunk; k += 16) {
      for (int d = 0; d < head_dim; d += 64) {
        // Row i of group g has, in each quarter, the quad i of dimensions of the quarter's four, of four keys.
        __m512i groups[4][4];
        ATTEND_UNROLL
        for (int g = 0; g < 4; ++g) {
          load_four(keys + (k + 4 * g) * stride + d, stride, count - (k + 4 * g), head_dim - d, groups[g]);
          transpose_quads(groups[g]);
        }
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          __m512i quads[4] = {groups[0][i], groups[1][i], groups[2][i], groups[3][i]};
          transpose_quarters(quads);
          ATTEND_UNROLL
          for (int q = 0; q < 4; ++q) {
            const int quad = d + 16 * q + 4 * i;
            if (quad < head_dim) store(to + quad * integer_chunk + 4 * k, _mm512_xor_si512(quads[q], sign));
          }
        }
      }
    }
  }

  static void pack_values(const int8_t* values, ptrdiff_t stride, int count, int width, int16_t* to) {
    // Quarters of 16 columns: their first eight, and then their last eight.
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int c = 0; c < width; c += 64) {
      for (int place = 0; place < integer_chunk / 4; ++place) {
        const int k = 4 * quad_at_place(place);
        __m512i rows[4];
        load_four(values + k * stride + c, stride, count - k, width - c, rows);
        ATTEND_UNROLL
        for (int i = 0; i < 4; i += 2) {
          const __m512i low = _mm512_unpacklo_epi8(rows[i], rows[i + 1]), high = _mm512_unpackhi_epi8(rows[i], rows[i + 1]);
          const __m512i halves[2] = {_mm512_permutex2var_epi64(low, first, high), _mm512_permutex2var_epi64(low, second, high)};
          ATTEND_UNROLL
          for (int q = 0; q < 4; ++q) {
            if (c + 16 * q >= width) continue;
            const __m256i bytes =
                q % 2 == 0 ? _mm512_castsi512_si256(halves[q / 2]) : _mm512_extracti64x4_epi64(halves[q / 2], 1);
            store(to + (c + 16 * q) * integer_chunk + (4 * place + i) * 16, _mm512_cvtepi8_epi16(bytes));
          }
        }
      }
    }
  }

  // As pack_values, of a chunk that lies in a panel, 16 columns at a time.
  static void pack_value_panel(const int8_t* panel, int width, int16_t* to) {
    for (int c = 0; c < width; c += 16) {
      const __mmask16 columns = first_lanes(width - c);
      for (int place = 0; place < integer_chunk / 4; ++place, to += 64) {
        const __m512i quads = _mm512_maskz_loadu_epi32(columns, panel + (ptrdiff_t(quad_at_place(place)) * width + c) * 4);
        store(to, _mm512_cvtepi8_epi16(_mm512_cvtepi32_epi16(quads)));
        store(to + 32, _mm512_cvtepi8_epi16(_mm512_cvtepi32_epi16(_mm512_srli_epi32(quads, 16))));
      }
    }
  }

 protected:
  static ATTEND_ALWAYS_INLINE __m512i load(const void* from) { return _mm512_loadu_si512(from); }
  static ATTEND_ALWAYS_INLINE void store(void* to, __m512i a) { _mm512_storeu_si512(to, a); }
  static ATTEND_ALWAYS_INLINE __mmask16 first_lanes(int count) { return count >= 16 ? 0xffff : __mmask16((1u << count) - 1); }
  static ATTEND_ALWAYS_INLINE __mmask64 first_bytes(int count) {
    return count >= 64 ? ~__mmask64(0) : (__mmask64(1) << count) - 1;
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

 private:
  // Up to 64 bytes of four rows; zeros behind them, and for rows from `count` on.
  static ATTEND_ALWAYS_INLINE void load_four(const int8_t* from, ptrdiff_t stride, int count, int bytes, __m512i (&rows)[4]) {
    const __mmask64 mask = first_bytes(bytes);
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) rows[i] = _mm512_maskz_loadu_epi8(i < count ? mask : 0, from + i * stride);
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
