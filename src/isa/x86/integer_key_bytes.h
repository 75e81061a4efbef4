// The preparation of integer attention for instruction sets that multiply quads of bytes. A chunk of keys lies as
//
//   [quads of dimensions][32 keys][4 dimensions] of 8 bits, each 128 more than it is
//
// because the instruction takes one side without a sign. Sums of scores begin at -128 times the sum of the query.
#ifndef ATTEND_ISA_X86_INTEGER_KEY_BYTES_H
#define ATTEND_ISA_X86_INTEGER_KEY_BYTES_H

#include "integers.h"
#include "rows_in_place.h"

namespace attend::ATTEND_ISA {
namespace {

struct IntegerKeyBytes {
  // The number at which the scores of a row begin, then its query from byte `query_at` on.
  using Query = int8_t;
  static constexpr int query_at = 64;
  static void prepare(const int8_t* query, int head_dim, void* memory) {
    int8_t* const to = static_cast<int8_t*>(memory) + query_at;
    __m128i sums = _mm_setzero_si128();
    for (int d = 0; d < head_dim; d += 16) {
      const __m128i numbers = load_bytes(query + d, head_dim - d);
      _mm_store_si128(reinterpret_cast<__m128i*>(to + d), numbers);
      sums = _mm_add_epi32(sums, _mm_madd_epi16(_mm_maddubs_epi16(_mm_set1_epi8(1), numbers), _mm_set1_epi16(1)));
    }
    *static_cast<int32_t*>(memory) = -128 * int32_t(sum_of_four(sums));
  }

  static void pack_keys(const int8_t* keys, ptrdiff_t stride, int count, int head_dim, int8_t* to) {
    const __m128i sign = _mm_set1_epi8(-128);
    for (int k = 0; k < integer_chunk; k += 4) {
      for (int d = 0; d < head_dim; d += 16) {
        __m128i four[4];
        load_four_keys(keys + d, stride, k, count, head_dim - d, four);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) {
          if (d + 4 * i >= head_dim) continue;
          __m128i* const at = reinterpret_cast<__m128i*>(to + (d + 4 * i) * integer_chunk + k * 4);
          _mm_store_si128(at, _mm_xor_si128(four[i], sign));
        }
      }
    }
  }

  // As pack_keys, of a chunk that lies in a panel: in this order already.
  static void pack_key_panel(const int8_t* panel, int head_dim, int8_t* to) {
    const __m256i sign = _mm256_set1_epi8(-128);
    const int bytes = (head_dim + 3) / 4 * 4 * integer_chunk;
    for (int i = 0; i < bytes; i += 32) {
      const __m256i keys = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel + i));
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), _mm256_xor_si256(keys, sign));
    }
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
