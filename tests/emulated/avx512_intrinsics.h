// The intrinsics of AVX-512 that the library calls, by AVX2 and by loops over lanes, so that its kernels run on processors
// without them. They stand in the namespace of the instruction set, where their names hide the compiler's. To be included after
// begin.h. One that the library begins to call is missing here with the compiler's word about types that do not fit: define it.
//
// Masked loads and stores touch the lanes of their mask alone, as the processor does: what reads past an end is found here too.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// Some compilers make macros of those that take a constant.
#undef _mm512_cmp_ps_mask
#undef _mm512_cmplt_epu16_mask
#undef _mm512_extracti64x4_epi64
#undef _mm512_mask_shuffle_epi32
#undef _mm512_setr_epi32
#undef _mm512_setr_epi64
#undef _mm512_shuffle_i32x4
#undef _mm512_shuffle_ps
#undef _mm512_slli_epi16
#undef _mm512_slli_epi32
#undef _mm512_srli_epi16
#undef _mm512_srli_epi32
#undef _mm512_srli_epi64
#undef _mm512_ternarylogic_epi32

namespace attend::ATTEND_ISA {
namespace {

struct __m512 {
  __m256 low, high;
};
struct __m512i {
  __m256i low, high;
};

template <class Number>
struct LanesOf {
  static constexpr int count = 64 / int(sizeof(Number));
  Number at[std::size_t(count)];
};
template <class Number, class Vector>
LanesOf<Number> lanes_of(Vector a) {
  LanesOf<Number> lanes;
  std::memcpy(&lanes, &a, sizeof lanes);
  return lanes;
}
template <class Vector, class Number>
Vector vector_of(const LanesOf<Number>& lanes) {
  Vector a;
  std::memcpy(&a, &lanes, sizeof a);
  return a;
}

// What AVX2 does in halves of the vector, or in quarters.
#define ATTEND_HALVES(Vector, name, of_half) \
  inline Vector name(Vector a, Vector b) { return {of_half(a.low, b.low), of_half(a.high, b.high)}; }
ATTEND_HALVES(__m512, _mm512_add_ps, _mm256_add_ps)
ATTEND_HALVES(__m512, _mm512_sub_ps, _mm256_sub_ps)
ATTEND_HALVES(__m512, _mm512_mul_ps, _mm256_mul_ps)
ATTEND_HALVES(__m512, _mm512_max_ps, _mm256_max_ps)
ATTEND_HALVES(__m512, _mm512_min_ps, _mm256_min_ps)
ATTEND_HALVES(__m512, _mm512_unpacklo_ps, _mm256_unpacklo_ps)
ATTEND_HALVES(__m512, _mm512_unpackhi_ps, _mm256_unpackhi_ps)
ATTEND_HALVES(__m512i, _mm512_add_epi16, _mm256_add_epi16)
ATTEND_HALVES(__m512i, _mm512_add_epi32, _mm256_add_epi32)
ATTEND_HALVES(__m512i, _mm512_add_epi64, _mm256_add_epi64)
ATTEND_HALVES(__m512i, _mm512_avg_epu16, _mm256_avg_epu16)
ATTEND_HALVES(__m512i, _mm512_madd_epi16, _mm256_madd_epi16)
ATTEND_HALVES(__m512i, _mm512_max_epi32, _mm256_max_epi32)
ATTEND_HALVES(__m512i, _mm512_min_epi32, _mm256_min_epi32)
ATTEND_HALVES(__m512i, _mm512_mul_epi32, _mm256_mul_epi32)
ATTEND_HALVES(__m512i, _mm512_mulhi_epu16, _mm256_mulhi_epu16)
ATTEND_HALVES(__m512i, _mm512_mullo_epi32, _mm256_mullo_epi32)
ATTEND_HALVES(__m512i, _mm512_packus_epi32, _mm256_packus_epi32)
ATTEND_HALVES(__m512i, _mm512_sllv_epi64, _mm256_sllv_epi64)
ATTEND_HALVES(__m512i, _mm512_srav_epi32, _mm256_srav_epi32)
ATTEND_HALVES(__m512i, _mm512_srlv_epi32, _mm256_srlv_epi32)
ATTEND_HALVES(__m512i, _mm512_sub_epi16, _mm256_sub_epi16)
ATTEND_HALVES(__m512i, _mm512_sub_epi32, _mm256_sub_epi32)
ATTEND_HALVES(__m512i, _mm512_unpackhi_epi8, _mm256_unpackhi_epi8)
ATTEND_HALVES(__m512i, _mm512_unpackhi_epi16, _mm256_unpackhi_epi16)
ATTEND_HALVES(__m512i, _mm512_unpackhi_epi32, _mm256_unpackhi_epi32)
ATTEND_HALVES(__m512i, _mm512_unpackhi_epi64, _mm256_unpackhi_epi64)
ATTEND_HALVES(__m512i, _mm512_unpacklo_epi8, _mm256_unpacklo_epi8)
ATTEND_HALVES(__m512i, _mm512_unpacklo_epi16, _mm256_unpacklo_epi16)
ATTEND_HALVES(__m512i, _mm512_unpacklo_epi32, _mm256_unpacklo_epi32)
ATTEND_HALVES(__m512i, _mm512_unpacklo_epi64, _mm256_unpacklo_epi64)
ATTEND_HALVES(__m512i, _mm512_xor_si512, _mm256_xor_si256)
#undef ATTEND_HALVES

// All lanes alike, lanes one by one, whole vectors of memory.
inline __m512 _mm512_set1_ps(float a) { return {_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
inline __m512i _mm512_set1_epi8(char a) { return {_mm256_set1_epi8(a), _mm256_set1_epi8(a)}; }
inline __m512i _mm512_set1_epi16(short a) { return {_mm256_set1_epi16(a), _mm256_set1_epi16(a)}; }
inline __m512i _mm512_set1_epi32(int a) { return {_mm256_set1_epi32(a), _mm256_set1_epi32(a)}; }
inline __m512i _mm512_set1_epi64(long long a) { return {_mm256_set1_epi64x(a), _mm256_set1_epi64x(a)}; }
inline __m512 _mm512_setzero_ps() { return _mm512_set1_ps(0.0f); }
inline __m512i _mm512_setzero_si512() { return _mm512_set1_epi32(0); }
template <class... Numbers>
__m512i _mm512_setr_epi32(Numbers... numbers) {
  return vector_of<__m512i>(LanesOf<std::int32_t>{{numbers...}});
}
template <class... Numbers>
__m512i _mm512_setr_epi64(Numbers... numbers) {
  return vector_of<__m512i>(LanesOf<std::int64_t>{{numbers...}});
}

// Whole vectors of memory, and the lanes of a mask: the others are zeros, and are not touched.
template <class Vector>
Vector load_whole(const void* from) {
  Vector a;
  std::memcpy(&a, from, sizeof a);
  return a;
}
inline __m512 _mm512_loadu_ps(const void* from) { return load_whole<__m512>(from); }
inline __m512i _mm512_loadu_si512(const void* from) { return load_whole<__m512i>(from); }
inline void _mm512_storeu_ps(void* to, __m512 a) { std::memcpy(to, &a, sizeof a); }
inline void _mm512_storeu_si512(void* to, __m512i a) { std::memcpy(to, &a, sizeof a); }

template <class Vector, class Number>
Vector load_masked(std::uint64_t mask, const void* from) {
  LanesOf<Number> lanes{};
  for (int i = 0; i < lanes.count; ++i) {
    if (mask >> i & 1) std::memcpy(&lanes.at[i], static_cast<const Number*>(from) + i, sizeof(Number));
  }
  return vector_of<Vector>(lanes);
}
template <class Number, class Vector>
void store_masked(void* to, std::uint64_t mask, Vector a) {
  const LanesOf<Number> lanes = lanes_of<Number>(a);
  for (int i = 0; i < lanes.count; ++i) {
    if (mask >> i & 1) std::memcpy(static_cast<Number*>(to) + i, &lanes.at[i], sizeof(Number));
  }
}
inline __m512 _mm512_maskz_loadu_ps(__mmask16 mask, const void* from) { return load_masked<__m512, float>(mask, from); }
inline __m512i _mm512_maskz_loadu_epi8(__mmask64 mask, const void* from) { return load_masked<__m512i, char>(mask, from); }
inline __m512i _mm512_maskz_loadu_epi32(__mmask16 mask, const void* from) { return load_masked<__m512i, int>(mask, from); }
inline void _mm512_mask_storeu_ps(void* to, __mmask16 mask, __m512 a) { store_masked<float>(to, mask, a); }
inline void _mm512_mask_storeu_epi32(void* to, __mmask16 mask, __m512i a) { store_masked<int>(to, mask, a); }

// Numbers of 64 bits: widened, shifted, and narrowed to the nearest that there is.
inline __m512i _mm512_cvtepi32_epi64(__m256i a) {
  return {_mm256_cvtepi32_epi64(_mm256_castsi256_si128(a)), _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1))};
}
inline __m512i _mm512_srli_epi64(__m512i a, unsigned by) {
  return {_mm256_srli_epi64(a.low, int(by)), _mm256_srli_epi64(a.high, int(by))};
}
inline __m512i _mm512_srav_epi64(__m512i a, __m512i by) {
  LanesOf<std::int64_t> lanes = lanes_of<std::int64_t>(a);
  const LanesOf<std::int64_t> shifts = lanes_of<std::int64_t>(by);
  for (int i = 0; i < lanes.count; ++i) lanes.at[i] >>= std::uint64_t(shifts.at[i]) > 63 ? 63 : shifts.at[i];
  return vector_of<__m512i>(lanes);
}
template <class Number>
__m128i narrowed(__m512i a) {
  const LanesOf<std::int64_t> lanes = lanes_of<std::int64_t>(a);
  constexpr std::int64_t largest = (std::int64_t(1) << (8 * sizeof(Number) - 1)) - 1;
  Number numbers[16 / sizeof(Number)] = {};
  for (int i = 0; i < lanes.count; ++i) {
    const std::int64_t number = lanes.at[i];
    numbers[i] = Number(number > largest ? largest : number < -largest - 1 ? -largest - 1 : number);
  }
  __m128i to;
  std::memcpy(&to, numbers, sizeof to);
  return to;
}
inline __m128i _mm512_cvtsepi64_epi8(__m512i a) { return narrowed<std::int8_t>(a); }
inline __m128i _mm512_cvtsepi64_epi16(__m512i a) { return narrowed<std::int16_t>(a); }
inline __m256i _mm512_cvtsepi32_epi16(__m512i a) { return _mm256_permute4x64_epi64(_mm256_packs_epi32(a.low, a.high), 0xd8); }
inline __m128i _mm512_cvtsepi32_epi8(__m512i a) {
  const __m256i words = _mm512_cvtsepi32_epi16(a);
  return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

// Bits stay as they are.
inline __m512 _mm512_castsi512_ps(__m512i a) { return {_mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high)}; }
inline __m512 _mm512_castps128_ps512(__m128 a) { return {_mm256_castps128_ps256(a), _mm256_setzero_ps()}; }
inline __m512 _mm512_mask_broadcast_f32x4(__m512 from, unsigned mask, __m128 a) {
  auto lanes = lanes_of<float>(from);
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) lanes.at[i] = a[i % 4];
  }
  return vector_of<__m512>(lanes);
}
inline __m512 _mm512_broadcast_f32x4(__m128 a) { return _mm512_mask_broadcast_f32x4(_mm512_setzero_ps(), 0xffff, a); }
inline __m512 _mm512_shuffle_ps(__m512 a, __m512 b, int which) {
  const auto x = lanes_of<float>(a), y = lanes_of<float>(b);
  LanesOf<float> to;
  for (int i = 0; i < 16; ++i) to.at[i] = (i % 4 < 2 ? x : y).at[i / 4 * 4 + (which >> i % 4 * 2 & 3)];
  return vector_of<__m512>(to);
}
inline __m512i _mm512_castps_si512(__m512 a) { return {_mm256_castps_si256(a.low), _mm256_castps_si256(a.high)}; }
inline __m256i _mm512_castsi512_si256(__m512i a) { return a.low; }
inline __m256i _mm512_extracti64x4_epi64(__m512i a, int half) { return half == 0 ? a.low : a.high; }

// Wider and narrower numbers.
inline __m512i _mm512_cvtepi8_epi16(__m256i a) {
  return {_mm256_cvtepi8_epi16(_mm256_castsi256_si128(a)), _mm256_cvtepi8_epi16(_mm256_extracti128_si256(a, 1))};
}
inline __m512i _mm512_cvtepu16_epi32(__m256i a) {
  return {_mm256_cvtepu16_epi32(_mm256_castsi256_si128(a)), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(a, 1))};
}
inline __m512i _mm512_cvtepi8_epi32(__m128i a) { return {_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8))}; }
inline __m512i _mm512_cvtepu8_epi32(__m128i a) { return {_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8))}; }
inline __m512 _mm512_cvtepi32_ps(__m512i a) { return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }
inline __m512 _mm512_cvtph_ps(__m256i a) {
  return {_mm256_cvtph_ps(_mm256_castsi256_si128(a)), _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1))};
}
template <class Narrow, class Wide>
__m256i narrowed(__m512i a) {
  const LanesOf<Wide> lanes = lanes_of<Wide>(a);
  Narrow narrow[std::size_t(LanesOf<Wide>::count)];
  for (int i = 0; i < lanes.count; ++i) narrow[i] = Narrow(lanes.at[i]);
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(narrow));
}
inline __m256i _mm512_cvtepi16_epi8(__m512i a) { return narrowed<std::uint8_t, std::uint16_t>(a); }
inline __m256i _mm512_cvtepi32_epi16(__m512i a) { return narrowed<std::uint16_t, std::uint32_t>(a); }

inline __m512i _mm512_and_si512(__m512i a, __m512i b) {
  return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}

// Shifts.
inline __m512i _mm512_slli_epi16(__m512i a, int by) { return {_mm256_slli_epi16(a.low, by), _mm256_slli_epi16(a.high, by)}; }
inline __m512i _mm512_slli_epi32(__m512i a, int by) { return {_mm256_slli_epi32(a.low, by), _mm256_slli_epi32(a.high, by)}; }
inline __m512i _mm512_srli_epi16(__m512i a, int by) { return {_mm256_srli_epi16(a.low, by), _mm256_srli_epi16(a.high, by)}; }
inline __m512i _mm512_srli_epi32(__m512i a, int by) { return {_mm256_srli_epi32(a.low, by), _mm256_srli_epi32(a.high, by)}; }
// a & b | c, which is 0xea; nothing else is asked for.
inline __m512i _mm512_ternarylogic_epi32(__m512i a, __m512i b, __m512i c, int logic) {
  if (logic != 0xea) std::abort();
  return {_mm256_or_si256(_mm256_and_si256(a.low, b.low), c.low), _mm256_or_si256(_mm256_and_si256(a.high, b.high), c.high)};
}
inline __m512i _mm512_sll_epi16(__m512i a, __m128i by) { return {_mm256_sll_epi16(a.low, by), _mm256_sll_epi16(a.high, by)}; }
inline __m512i _mm512_srlv_epi16(__m512i a, __m512i by) {
  LanesOf<std::uint16_t> lanes = lanes_of<std::uint16_t>(a);
  const LanesOf<std::uint16_t> shifts = lanes_of<std::uint16_t>(by);
  for (int i = 0; i < lanes.count; ++i) lanes.at[i] = std::uint16_t(shifts.at[i] > 15 ? 0 : lanes.at[i] >> shifts.at[i]);
  return vector_of<__m512i>(lanes);
}

// Lanes of a vector or of two, at places that are multiples of 32 or 64 bits.
inline __m512i _mm512_permutexvar_epi32(__m512i places, __m512i a) {
  const LanesOf<std::int32_t> from = lanes_of<std::int32_t>(a);
  LanesOf<std::int32_t> lanes = lanes_of<std::int32_t>(places);
  for (std::int32_t& lane : lanes.at) lane = from.at[lane & 15];
  return vector_of<__m512i>(lanes);
}
inline __m512i _mm512_permutex2var_epi64(__m512i a, __m512i places, __m512i b) {
  const LanesOf<std::int64_t> first = lanes_of<std::int64_t>(a), second = lanes_of<std::int64_t>(b);
  LanesOf<std::int64_t> lanes = lanes_of<std::int64_t>(places);
  for (std::int64_t& lane : lanes.at) lane = ((lane & 8) == 0 ? first : second).at[lane & 7];
  return vector_of<__m512i>(lanes);
}
inline __m512i _mm512_permutexvar_epi64(__m512i places, __m512i a) { return _mm512_permutex2var_epi64(a, places, a); }
inline __m512i _mm512_shuffle_i32x4(__m512i a, __m512i b, int parts) {
  const int p0 = parts & 3, p1 = parts >> 2 & 3, p2 = (parts >> 4 & 3) + 4, p3 = (parts >> 6 & 3) + 4;
  const __m512i places = _mm512_setr_epi64(2 * p0, 2 * p0 + 1, 2 * p1, 2 * p1 + 1, 2 * p2, 2 * p2 + 1, 2 * p3, 2 * p3 + 1);
  return _mm512_permutex2var_epi64(a, places, b);
}

// Lanes of 128 bits by themselves; those that the mask leaves out are the others.
inline __m512i _mm512_mask_shuffle_epi32(__m512i others, unsigned mask, __m512i a, int places) {
  auto lanes = lanes_of<std::int32_t>(others);
  const auto from = lanes_of<std::int32_t>(a);
  for (int i = 0; i < lanes.count; ++i) {
    if ((mask >> i & 1) != 0) lanes.at[i] = from.at[(i & -4) + (places >> 2 * (i % 4) & 3)];
  }
  return vector_of<__m512i>(lanes);
}

// Comparisons and what masks choose.
inline int compared(__m256 a, __m256 b, int predicate) {
  switch (predicate) {
    case _CMP_EQ_OQ:
      return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
    case _CMP_GT_OQ:
      return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ));
    case _CMP_NLT_UQ:
      return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NLT_UQ));
    default:
      std::abort();  // define it here
  }
}
inline __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int predicate) {
  return __mmask16(compared(a.low, b.low, predicate) | compared(a.high, b.high, predicate) << 8);
}
inline __mmask32 _mm512_cmplt_epu16_mask(__m512i a, __m512i b) {
  const LanesOf<std::uint16_t> first = lanes_of<std::uint16_t>(a), second = lanes_of<std::uint16_t>(b);
  __mmask32 mask = 0;
  for (int i = 0; i < first.count; ++i) mask |= __mmask32(first.at[i] < second.at[i]) << i;
  return mask;
}
inline __mmask16 _mm_test_epi8_mask(__m128i a, __m128i b) {
  return __mmask16(~_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(a, b), _mm_setzero_si128())));
}
template <class Number, class Vector>
Vector chosen(std::uint64_t mask, Vector where_0, Vector where_1) {
  LanesOf<Number> lanes = lanes_of<Number>(where_0);
  const LanesOf<Number> others = lanes_of<Number>(where_1);
  for (int i = 0; i < lanes.count; ++i) {
    if (mask >> i & 1) std::memcpy(&lanes.at[i], &others.at[i], sizeof(Number));
  }
  return vector_of<Vector>(lanes);
}
inline __m512 _mm512_mask_blend_ps(__mmask16 mask, __m512 a, __m512 b) { return chosen<float>(mask, a, b); }
inline __m512i _mm512_maskz_avg_epu16(__mmask32 mask, __m512i a, __m512i b) {
  return chosen<std::uint16_t>(mask, _mm512_setzero_si512(), _mm512_avg_epu16(a, b));
}
inline __m512 _mm512_maskz_mul_ps(__mmask16 mask, __m512 a, __m512 b) {
  return chosen<float>(mask, _mm512_setzero_ps(), _mm512_mul_ps(a, b));
}

// Floats.
inline __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
// a * 2^floor(b), rounded once.
inline __m512 _mm512_maskz_scalef_ps(__mmask16 mask, __m512 a, __m512 b) {
  LanesOf<float> lanes = lanes_of<float>(a);
  const LanesOf<float> powers = lanes_of<float>(b);
  for (int i = 0; i < lanes.count; ++i) {
    const float power = powers.at[i];
    lanes.at[i] =
        std::isnan(power) ? power : std::ldexp(lanes.at[i], int(std::fmin(std::fmax(std::floor(power), -999.0f), 999.0f)));
  }
  return chosen<float>(mask, _mm512_setzero_ps(), vector_of<__m512>(lanes));
}
inline float _mm512_reduce_max_ps(__m512 a) {
  const __m256 of_8 = _mm256_max_ps(a.high, a.low);
  const __m128 of_4 = _mm_max_ps(_mm256_extractf128_ps(of_8, 1), _mm256_castps256_ps128(of_8));
  const __m128 of_2 = _mm_max_ps(_mm_movehl_ps(of_4, of_4), of_4);
  return _mm_cvtss_f32(_mm_max_ss(_mm_movehdup_ps(of_2), of_2));
}

}  // namespace
}  // namespace attend::ATTEND_ISA
