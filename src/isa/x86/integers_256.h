// The kernels of integer attention that AVX2 and AVX-VNNI share, in vectors of 256 bits. Value sums are of 32 bits, made of
// pairs of 16-bit products. How those are added is a policy: AVX-VNNI has one instruction for it, AVX2 takes two.
#ifndef ATTEND_ISA_X86_INTEGERS_256_H
#define ATTEND_ISA_X86_INTEGERS_256_H

#include "integers.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Product>
struct Integer256 : IntegerX86 {
  static constexpr int tile_rows = 6;

  template <int rows>
  static ATTEND_ALWAYS_INLINE void references(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& to) {
    __m256i largest[8];
    ATTEND_UNROLL
    for (int r = 0; r < 8; ++r) {
      largest[r] = r < rows ? _mm256_max_epi32(_mm256_max_epi32(load(tile[r]), load(tile[r] + 8)),
                                               _mm256_max_epi32(load(tile[r] + 16), load(tile[r] + 24)))
                            : largest[0];
    }
    references_of(of_eight<Largest>(largest), scales, to);
  }

  // weight_of of 32 keys of each row.
  template <int rows>
  static ATTEND_ALWAYS_INLINE void weights(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& by) {
    constexpr int together = 3, rest = rows % together;
    __m256i sums[8];
    for (int r = 0; r + together <= rows; r += together) weights_of<together>(tile, scales, by, r, sums);
    if constexpr (rest > 0) weights_of<rest>(tile, scales, by, rows - rest, sums);
    ATTEND_UNROLL
    for (int r = rows; r < 8; ++r) sums[r] = sums[0];
    store(by.sum, of_eight<Sum>(sums));
  }

  template <int rows>  // not inlined, as scores
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width,
                                     const RowMerges& merges, int32_t* sums) {
    for (int c = 0; c < width; c += 16, values += 16 * integer_chunk) {
      __m256i added[rows][2];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) added[r][0] = added[r][1] = _mm256_set1_epi32(merges[r].half);
      const int pairs = pairs_of_keys();
      for (int pair = 0; pair < pairs; ++pair) {
        const __m256i low = load(values + 32 * pair), high = load(values + 32 * pair + 16);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) {
          const __m256i both = _mm256_set1_epi32(load_number(weights[r] + pair));
          Product::add(added[r][0], low, both);
          Product::add(added[r][1], high, both);
        }
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        int32_t* const at = sums + r * ptrdiff_t(width) + c;
        const Shifts shifts = shifts_of(merges[r]);
        merge_columns(added[r][0], shifts, at, width - c);
        merge_columns(added[r][1], shifts, at + 8, width - c - 8);
      }
    }
  }

 private:
  // Weights of `rows` rows from `first` on, step by step for all of them: each step waits for the one before, and a processor
  // looks only so far ahead for others. The lanes of sums[r] add up to the sum of row r's weights. Not inlined: scores that
  // were read for the largest ones would be kept on the stack.
  template <int rows>
  ATTEND_NOINLINE static void weights_of(int32_t (*tile)[integer_chunk], const RowScales& scales, const RowWeights& by,
                                         int first, __m256i* sums) {
    constexpr int vectors = 2 * rows;
    // t: distances from the largest score, then what weight_of calls t.
    __m256i t[vectors], past_end[vectors], power[vectors], scaled[vectors];
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) {
      const int r = first + i / 2;
      const int32_t* const scores = tile[r] + i % 2 * 8;
      const __m256i largest = _mm256_set1_epi32(by.largest[r]), end = both(scales.ends[r]);
      const __m256i right = _mm256_set1_epi32(scales.right[r]);
      const __m256i low = _mm256_srlv_epi32(_mm256_sub_epi32(largest, load(scores)), right);
      const __m256i high = _mm256_srlv_epi32(_mm256_sub_epi32(largest, load(scores + 16)), right);
      // What has more than 16 bits is past the end anyway.
      t[i] = _mm256_packus_epi32(low, high);
      past_end[i] = _mm256_cmpeq_epi16(_mm256_max_epu16(t[i], end), t[i]);
    }
    if (scales.any_left != 0) {  // seldom
      ATTEND_UNROLL
      for (int i = 0; i < vectors; ++i) t[i] = _mm256_sll_epi16(t[i], _mm_cvtsi32_si128(scales.left[first + i / 2]));
    }
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = _mm256_mulhi_epu16(t[i], both(scales.factors[first + i / 2]));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = _mm256_add_epi16(t[i], both(by.fractions[first + i / 2]));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = _mm256_or_si256(t[i], past_end[i]);
    // There is no shift of 16 bits by lanes: 2^(15 - n) comes from a table of bytes, which has zeros for negative n.
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) scaled[i] = power_of_two(_mm256_srai_epi16(t[i], weight_octave_bits - 8));
    // t * 2^5, so that a product's upper half is (x * c) >> 11.
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) t[i] = _mm256_slli_epi16(t[i], 16 - weight_octave_bits);
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) power[i] = _mm256_sub_epi16(number(exp2_c2), _mm256_mulhi_epu16(t[i], number(exp2_c3)));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) power[i] = _mm256_sub_epi16(number(exp2_c1), _mm256_mulhi_epu16(t[i], power[i]));
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) power[i] = _mm256_sub_epi16(number(exp2_c0), _mm256_mulhi_epu16(t[i], power[i]));
    // power * 2^-(n + 1), rounded: of power - 2^16, which the same 16 bits are with a sign, and 2^(15 - n) is added.
    ATTEND_UNROLL
    for (int i = 0; i < vectors; ++i) {
      power[i] = _mm256_mulhrs_epi16(power[i], _mm256_srli_epi16(scaled[i], 1));
      power[i] = _mm256_add_epi16(power[i], scaled[i]);
      store(tile[first + i / 2] + i % 2 * 8, power[i]);
      power[i] = _mm256_madd_epi16(power[i], number(1));
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) sums[first + r] = _mm256_add_epi32(power[2 * r], power[2 * r + 1]);
  }

  // 2^(15 - n) of n in the upper bytes, 0 where these are negative.
  static ATTEND_ALWAYS_INLINE __m256i power_of_two(__m256i n) {
    const __m256i upper_bytes =
        _mm256_set_epi64x(0x0f0f0d0d0b0b0909, 0x0707050503030101, 0x0f0f0d0d0b0b0909, 0x0707050503030101);
    const __m256i table = _mm256_setr_epi64x(0, 0x0102040810204080, 0, 0x0102040810204080);
    return _mm256_shuffle_epi8(table, _mm256_xor_si256(_mm256_shuffle_epi8(n, upper_bytes), number(0x0800)));
  }
  static ATTEND_ALWAYS_INLINE __m256i both(uint32_t pair) { return _mm256_set1_epi32(int32_t(pair)); }
  static ATTEND_ALWAYS_INLINE __m256i number(uint32_t a) { return _mm256_set1_epi16(int16_t(a)); }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
