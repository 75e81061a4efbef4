// A whole chain of two rows and eight columns whose sums stay doubles: src/guide/hosts.md, "Without a fused multiply-add".

#ifdef ATTEND_WHOLE_CHAINS
// Half a unit of a float's last place, as a double has it; the digits that a float keeps; those that it does not, in words; and
// 2^896, so that sums which are too large for a float are too large for a double.
alignas(16) constexpr uint64_t double_chain_numbers[4][2] = {{0x10000000u, 0x10000000u},
                                                             {~uint64_t(0x1fffffff), ~uint64_t(0x1fffffff)},
                                                             {0x1fffffff1fffffffu, 0x1fffffff1fffffffu},
                                                             {0x77f0000000000000u, 0x77f0000000000000u}};

// clang-format off
#define ATTEND_DO(name, from, to) name " {%[" from "], %[" to "]|%[" to "], %[" from "]}\n"
#define ATTEND_DO_AT(name, at, at_intel, to) name " {" at ", %[" to "]|%[" to "], " at_intel "}\n"
#define ATTEND_NUMBER(name, place, to) ATTEND_DO_AT(name, place "(%[numbers])", "xmmword ptr [%[numbers]+" place "]", to)

// The factors of two steps, in `pair` and, the first twice, in `first`.
#define ATTEND_FACTORS(at, at_intel, pair, first)                          \
  ATTEND_DO_AT("cvtps2pd", at, "qword ptr " at_intel, pair)                \
  ATTEND_NUMBER("mulpd", "48", pair)                                       \
  ATTEND_DO("movapd", pair, first)                                         \
  ATTEND_DO("unpcklpd", first, first)
// The factor of a last step, twice.
#define ATTEND_FACTOR(at, at_intel, to)                                    \
  ATTEND_DO("xorps", to, to)                                               \
  ATTEND_DO_AT("cvtss2sd", at, "dword ptr " at_intel, to)                  \
  ATTEND_NUMBER("mulpd", "48", to)                                         \
  ATTEND_DO("unpcklpd", to, to)

// Two columns: multiply-adds of both rows, rounded, and the low words of what was cut off.
#define ATTEND_COLUMNS(place, factor0, factor1, sum0, sum1, lows)          \
  ATTEND_DO_AT("cvtps2pd", place "(%[vectors])", "qword ptr [%[vectors]+" place "]", "odd")  \
  ATTEND_DO("movapd", "odd", "even")                                       \
  ATTEND_DO("mulpd", factor0, "even")                                      \
  ATTEND_DO("mulpd", factor1, "odd")                                       \
  ATTEND_DO("addpd", "even", sum0)                                         \
  ATTEND_DO("addpd", "odd", sum1)                                          \
  ATTEND_NUMBER("paddq", "0", sum0)                                        \
  ATTEND_NUMBER("paddq", "0", sum1)                                        \
  ATTEND_DO("movaps", sum0, lows)                                          \
  "shufps {$0x88, %[" sum1 "], %[" lows "]|%[" lows "], %[" sum1 "], 0x88}\n"  \
  ATTEND_NUMBER("pand", "16", sum0)                                        \
  ATTEND_NUMBER("pand", "16", sum1)                                        \
  ATTEND_NUMBER("pand", "32", lows)
// Packing keeps zeros and no others: it ends at the largest number of 16 bits.
#define ATTEND_LEAST ATTEND_DO("packssdw", "even", "lows") ATTEND_DO("pminsw", "lows", "least")
#define ATTEND_STEP(factor0, factor1)                                      \
  ATTEND_COLUMNS("0", factor0, factor1, "s00", "s10", "lows")              \
  ATTEND_COLUMNS("8", factor0, factor1, "s01", "s11", "even")              \
  ATTEND_LEAST                                                             \
  ATTEND_COLUMNS("16", factor0, factor1, "s02", "s12", "lows")             \
  ATTEND_COLUMNS("24", factor0, factor1, "s03", "s13", "even")             \
  ATTEND_LEAST                                                             \
  ATTEND_DO("add", "distance", "vectors")

// sums[r] = sum over i < steps of factors[r * factor_stride + i] * the eight floats at vectors + i * vector_stride, as floats
// that are rounded in each step; or false where a sum may have been rounded otherwise, or is infinite, NaN or small.
ATTEND_ALWAYS_INLINE bool chain_of_doubles(const float* factors, ptrdiff_t factor_stride, const float* vectors,
                                           ptrdiff_t vector_stride, ptrdiff_t steps, __m128 (&sums)[2][2]) {
  __m128d s00, s01, s02, s03, s10, s11, s12, s13, pair0, pair1, factor0, factor1, even, odd, lows;
  __m128i least;
  __asm__ volatile(
      ATTEND_DO("xorps", "s00", "s00") ATTEND_DO("xorps", "s01", "s01") ATTEND_DO("xorps", "s02", "s02")
      ATTEND_DO("xorps", "s03", "s03") ATTEND_DO("xorps", "s10", "s10") ATTEND_DO("xorps", "s11", "s11")
      ATTEND_DO("xorps", "s12", "s12") ATTEND_DO("xorps", "s13", "s13") ATTEND_DO("pcmpeqd", "least", "least")
      "psrlw {$1, %[least]|%[least], 1}\n"
      "sub {$2, %[left]|%[left], 2}\n"
      "jl 3f\n"
      ".p2align 4\n"
      "2:\n"
      ATTEND_FACTORS("(%[factors])", "[%[factors]]", "pair0", "factor0")
      ATTEND_FACTORS("(%[factors],%[row])", "[%[factors]+%[row]]", "pair1", "factor1")
      ATTEND_STEP("factor0", "factor1")
      ATTEND_DO("unpckhpd", "pair0", "pair0")
      ATTEND_DO("unpckhpd", "pair1", "pair1")
      ATTEND_STEP("pair0", "pair1")
      "add {$8, %[factors]|%[factors], 8}\n"
      "sub {$2, %[left]|%[left], 2}\n"
      "jge 2b\n"
      "3:\n"
      "cmp {$-1, %[left]|%[left], -1}\n"
      "jne 4f\n"
      ATTEND_FACTOR("(%[factors])", "[%[factors]]", "factor0")
      ATTEND_FACTOR("(%[factors],%[row])", "[%[factors]+%[row]]", "factor1")
      ATTEND_STEP("factor0", "factor1")
      "4:\n"
      : [s00] "=&x"(s00), [s01] "=&x"(s01), [s02] "=&x"(s02), [s03] "=&x"(s03), [s10] "=&x"(s10), [s11] "=&x"(s11),
        [s12] "=&x"(s12), [s13] "=&x"(s13), [pair0] "=&x"(pair0), [pair1] "=&x"(pair1), [factor0] "=&x"(factor0),
        [factor1] "=&x"(factor1), [even] "=&x"(even), [odd] "=&x"(odd), [lows] "=&x"(lows), [least] "=&x"(least),
        [factors] "+r"(factors), [vectors] "+r"(vectors), [left] "+r"(steps)
      : [row] "r"(factor_stride * ptrdiff_t(sizeof(float))), [distance] "r"(vector_stride * ptrdiff_t(sizeof(float))),
        [numbers] "r"(double_chain_numbers)
      : "memory", "cc");
  // clang-format on
  const __m128d down = _mm_castsi128_pd(_mm_set_epi32(0x07f00000, 0, 0x07f00000, 0));  // 2^-896
  const auto narrowed = [&](__m128d low, __m128d high) {
    return _mm_movelh_ps(_mm_cvtpd_ps(_mm_mul_pd(low, down)), _mm_cvtpd_ps(_mm_mul_pd(high, down)));
  };
  const __m128 a = narrowed(s00, s01), b = narrowed(s02, s03), c = narrowed(s10, s11), d = narrowed(s12, s13);
  // a - a is 0 where a is finite, and NaN otherwise.
  const __m128 all = _mm_add_ps(_mm_add_ps(_mm_sub_ps(a, a), _mm_sub_ps(b, b)), _mm_add_ps(_mm_sub_ps(c, c), _mm_sub_ps(d, d)));
  // Small numbers may come from sums that would be subnormal as floats, and have more digits than such floats.
  const auto is_small = [](__m128 sum) {
    const __m128 magnitude = _mm_andnot_ps(_mm_set1_ps(-0.0f), sum);
    return _mm_and_ps(_mm_cmplt_ps(magnitude, _mm_set1_ps(1.0f / 79228162514264337593543950336.0f)),  // 2^-96
                      _mm_cmpneq_ps(sum, _mm_setzero_ps()));
  };
  const __m128 small = _mm_or_ps(_mm_or_ps(is_small(a), is_small(b)), _mm_or_ps(is_small(c), is_small(d)));
  const __m128i halfway = _mm_cmpeq_epi16(least, _mm_setzero_si128());
  if ((_mm_movemask_epi8(halfway) | _mm_movemask_ps(_mm_or_ps(small, _mm_cmpunord_ps(all, all)))) != 0) return false;
  sums[0][0] = a, sums[0][1] = b, sums[1][0] = c, sums[1][1] = d;
  return true;
}
#undef ATTEND_STEP
#undef ATTEND_LEAST
#undef ATTEND_COLUMNS
#undef ATTEND_FACTOR
#undef ATTEND_FACTORS
#undef ATTEND_NUMBER
#undef ATTEND_DO_AT
#undef ATTEND_DO

// Sums often end halfway where numbers have few digits, at most 11, as halves, bfloats and small whole numbers have: all of the
// first four factors, or one of the first four numbers of vectors that is not 0.
ATTEND_ALWAYS_INLINE __m128i with_few_digits(__m128 a) {
  return _mm_cmpeq_epi32(_mm_slli_epi32(_mm_castps_si128(a), 19), _mm_setzero_si128());
}
ATTEND_ALWAYS_INLINE bool have_few_digits(const float* factors, const float* vectors) {
  const __m128 vector = _mm_loadu_ps(vectors), not_zero = _mm_cmpneq_ps(vector, _mm_setzero_ps());
  return _mm_movemask_ps(_mm_and_ps(_mm_castsi128_ps(with_few_digits(vector)), not_zero)) != 0 ||
         _mm_movemask_epi8(with_few_digits(_mm_loadu_ps(factors))) == 0xffff;
}
#endif
