// The kernels of integer attention in vectors of 256 bits. A chunk of keys lies as
//
//   [2 halves][pairs of dimensions][16 keys][2 dimensions] of 8 bits
//
// which are widened as they are loaded. Scores and value sums are of 32 bits, made of pairs of 16-bit products. How those are
// added is a policy: AVX-VNNI has one instruction for it, AVX2 takes two.
#pragma once

#include "integer_x86.h"

namespace attend {
namespace {

// In assembly, because GCC moves the additions away from the products, and then has more of those than registers.
struct MultiplyAdd {
  static ATTEND_ALWAYS_INLINE void add(__m256i& sum, __m256i a, __m256i b) {
    __m256i product;
    __asm__("vpmaddwd {%3, %2, %1|%1, %2, %3}\n\tvpaddd {%1, %0, %0|%0, %0, %1}" : "+x"(sum), "=x"(product) : "x"(a), "x"(b));
  }
};

template <class Product>
struct IntegerAvx2 : IntegerX86 {
  static constexpr int tile_rows = 6;

  using Query = int16_t;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int16_t* const to = static_cast<int16_t*>(memory);
    for (int d = 0; d < head_dim; d += 16) store(to + d, _mm256_cvtepi8_epi16(load_bytes(query + d, head_dim - d)));
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const __m128i pairs_apart = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const int pairs = (head_dim + 3) / 4 * 2;
    for (int k = 0; k < integer_chunk; k += 8) {
      int8_t* const at = to + (k / 16 * pairs * 32 + k % 16 * 2);
      for (int d = 0; d < head_dim; d += 16) {
        __m128i first[4], second[4];
        load_four_keys(keys, stride, k, count, d, head_dim, first);
        load_four_keys(keys, stride, k + 4, count, d, head_dim, second);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i >= head_dim) continue;
          const __m128i a = _mm_shuffle_epi8(first[i], pairs_apart), b = _mm_shuffle_epi8(second[i], pairs_apart);
          __m128i* const pair = reinterpret_cast<__m128i*>(at + (d / 2 + 2 * i) * 32);
          _mm_store_si128(pair, _mm_unpacklo_epi64(a, b));
          _mm_store_si128(pair + 2, _mm_unpackhi_epi64(a, b));
        }
      }
    }
  }

  // Not inlined: there GCC would keep sums in memory.
  template <int rows>
  ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, int head_dim,
                                     int32_t (*scores)[integer_chunk]) {
    const int pairs = (head_dim + 3) / 4 * 2;
    const __m128i* key = reinterpret_cast<const __m128i*>(keys);
    for (int half = 0; half < integer_chunk; half += 16) {
      __m256i sums[rows][2];
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
      for (int pair = 0; pair < pairs; ++pair, key += 2) {
        const __m256i low = _mm256_cvtepi8_epi16(key[0]), high = _mm256_cvtepi8_epi16(key[1]);
        ATTEND_UNROLL
        for (int r = 0; r < rows; ++r) {
          const __m256i both = _mm256_set1_epi32(load_number(query[r] + 2 * pair));
          Product::add(sums[r][0], low, both);
          Product::add(sums[r][1], high, both);
        }
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        store(scores[r] + half, sums[r][0]);
        store(scores[r] + half + 8, sums[r][1]);
      }
    }
  }

  static void scores_in_place(const Query* query, const int8_t* keys, ptrdiff_t stride, int head_dim, int32_t* scores) {
    scores_of_row([query](int d) { return load(query + d); }, keys, stride, head_dim, scores);
  }

  static int32_t largest(const int32_t* scores) {
    const __m256i most = _mm256_max_epi32(_mm256_max_epi32(load(scores), load(scores + 8)),
                                          _mm256_max_epi32(load(scores + 16), load(scores + 24)));
    return largest_of_four(_mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1)));
  }

  template <int rows>
  static ATTEND_ALWAYS_INLINE void references(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& to) {
    references_by_rows<IntegerAvx2, rows>(tile, scales, to);
  }
  template <int rows>
  static ATTEND_ALWAYS_INLINE void weights(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& by) {
    weights_by_rows<IntegerAvx2, rows>(tile, scales, by);
  }

  // Inlined, so that its constants are loaded once for all rows of a tile.
  static ATTEND_ALWAYS_INLINE uint32_t weights(int32_t (*tile)[integer_chunk], int row, int32_t largest,
                                               const core::ScoreScale& scale, uint32_t fraction) {
    const int32_t* const scores = tile[row];
    const __m256i first = weights_of(load(scores), load(scores + 8), largest, scale, fraction);
    const __m256i second = weights_of(load(scores + 16), load(scores + 24), largest, scale, fraction);
    store(tile[row], first);
    store(tile[row] + 8, second);
    const __m256i ones = _mm256_set1_epi16(1);
    const __m256i sums = _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones));
    return sum_of_four(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)));
  }

  template <int rows>  // not inlined, as scores
  ATTEND_NOINLINE static void values(int32_t (*weights)[integer_chunk], const int16_t* values, int width, const Merge* merges,
                                     int32_t* sums) {
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
  // How far scores are below the largest, shifted to the right and at most `end`.
  static ATTEND_ALWAYS_INLINE __m256i distances(__m256i scores, int32_t largest, const core::ScoreScale& scale) {
    const __m256i below = _mm256_sub_epi32(_mm256_set1_epi32(largest), scores);
    return _mm256_min_epu32(_mm256_srl_epi32(below, _mm_cvtsi32_si128(scale.right)), _mm256_set1_epi32(int32_t(scale.end)));
  }

  // weight_of of 16 keys.
  static ATTEND_ALWAYS_INLINE __m256i weights_of(__m256i scores_0, __m256i scores_8, int32_t largest,
                                                 const core::ScoreScale& scale, uint32_t fraction) {
    const __m256i packed = _mm256_packus_epi32(distances(scores_0, largest, scale), distances(scores_8, largest, scale));
    const __m256i distance = _mm256_permute4x64_epi64(packed, 0xd8);
    const __m256i steps = _mm256_sll_epi16(distance, _mm_cvtsi32_si128(scale.left));
    const __m256i t = _mm256_add_epi16(_mm256_mulhi_epu16(steps, number(scale.factor >> scale.left)), number(fraction));
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
    return _mm256_andnot_si256(_mm256_cmpeq_epi16(distance, number(scale.end)), weight);
  }
  static ATTEND_ALWAYS_INLINE __m256i number(uint32_t a) { return _mm256_set1_epi16(int16_t(a)); }
};

}  // namespace
}  // namespace attend
