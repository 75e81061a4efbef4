// The kernels of integer attention that AVX2 and AVX-VNNI share, in vectors of 256 bits. Value sums are of 32 bits, made of
// pairs of 16-bit products. How those are added is a policy: AVX-VNNI has one instruction for it, AVX2 takes two.
#pragma once

#include "integer_x86.h"

namespace attend {
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
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sums[8];
    ATTEND_UNROLL
    for (int r = 0; r < 8; ++r) {
      if (r >= rows) {
        sums[r] = sums[0];
        continue;
      }
      const __m256i first = weights_of(tile[r], scales, by, r), second = weights_of(tile[r] + 16, scales, by, r);
      store(tile[r], first);
      store(tile[r] + 8, second);
      sums[r] = _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones));
    }
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
  // weight_of of 16 keys.
  static ATTEND_ALWAYS_INLINE __m256i weights_of(const int32_t* scores, const RowScales& scales, const RowWeights& by, int r) {
    const __m256i largest = _mm256_set1_epi32(by.largest[r]);
    const __m128i right = _mm_cvtsi32_si128(scales.right[r]);
    const __m256i low = _mm256_srl_epi32(_mm256_sub_epi32(largest, load(scores)), right);
    const __m256i high = _mm256_srl_epi32(_mm256_sub_epi32(largest, load(scores + 8)), right);
    // Distances from the largest score. What has more than 16 bits is past the end anyway.
    const __m256i distance = in_order(_mm256_packus_epi32(low, high));
    const __m256i steps = _mm256_sll_epi16(distance, _mm_cvtsi32_si128(scales.left[r]));
    const __m256i t = _mm256_add_epi16(_mm256_mulhi_epu16(steps, both(scales.factors[r])), both(by.fractions[r]));
    // x * 2^5, so that a product's upper half is (x * c) >> 11.
    const __m256i x = _mm256_slli_epi16(t, 16 - weight_octave_bits);
    __m256i power = _mm256_sub_epi16(number(exp2_c2), _mm256_mulhi_epu16(x, number(exp2_c3)));
    power = _mm256_sub_epi16(number(exp2_c1), _mm256_mulhi_epu16(x, power));
    power = _mm256_sub_epi16(number(exp2_c0), _mm256_mulhi_epu16(x, power));
    // There is no shift of 16 bits by lanes. A product with 2^(15 - n) has power >> (n + 1) in its upper half, and the bit that
    // decides how it is rounded at the top of its lower half. Bytes of 2^(15 - n) come from a table.
    const __m256i n = _mm256_srli_epi16(t, weight_octave_bits);
    const __m256i bytes = _mm256_xor_si256(_mm256_or_si256(n, _mm256_slli_epi16(n, 8)), number(0x0800));
    const __m256i table = _mm256_setr_epi64x(0, 0x0102040810204080, 0, 0x0102040810204080);
    const __m256i scaled = _mm256_shuffle_epi8(table, bytes);
    const __m256i weight =
        _mm256_add_epi16(_mm256_mulhi_epu16(power, scaled), _mm256_srli_epi16(_mm256_mullo_epi16(power, scaled), 15));
    const __m256i end = both(scales.ends[r]);
    return _mm256_andnot_si256(_mm256_cmpeq_epi16(_mm256_max_epu16(distance, end), distance), weight);
  }
  static ATTEND_ALWAYS_INLINE __m256i both(uint32_t pair) { return _mm256_set1_epi32(int32_t(pair)); }
  static ATTEND_ALWAYS_INLINE __m256i number(uint32_t a) { return _mm256_set1_epi16(int16_t(a)); }
};

}  // namespace
}  // namespace attend
