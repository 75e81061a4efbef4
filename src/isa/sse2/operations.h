// SSE2, which every x86 processor of 64 bits has: 4 lanes, 16 registers (8 in programs of 32 bits).

struct Sse2Target {
  using Vec = __m128;
  using Doubles = __m128d;
  using Words = uint32_t __attribute__((vector_size(16)));

  static Doubles broadcast_double(double a) { return _mm_set1_pd(a); }
  static Doubles low(Vec a) { return _mm_cvtps_pd(a); }
  static Doubles high(Vec a) { return _mm_cvtps_pd(_mm_movehl_ps(a, a)); }
  static Vec narrowed(Doubles low, Doubles high) { return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)); }
  static Words low_words(Doubles low, Doubles high) {
    return Words(_mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), 0x88));
  }
  static bool any(Words mask) { return _mm_movemask_ps(Vec(mask)) != 0; }

  static Vec larger_or_first(Vec a, Vec b) { return _mm_max_ps(b, a); }  // the instruction gives its second operand for NaN
  static Vec smaller_or_first(Vec a, Vec b) { return _mm_min_ps(b, a); }
  static Words whole(Vec a) { return Words(_mm_cvtps_epi32(a)); }

  // Four numbers of two bytes, or of one, as words.
  static Words load_pairs(const void* from) {
    return Words(_mm_unpacklo_epi16(_mm_loadl_epi64(static_cast<const __m128i*>(from)), _mm_setzero_si128()));
  }
  static Words load_bytes(const void* from) {
    int32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    const __m128i zero = _mm_setzero_si128();
    return Words(_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero), zero));
  }

  // Of four rows of four floats: to[i] has column i.
  static void columns_of(Vec r0, Vec r1, Vec r2, Vec r3, Vec (&to)[4]) {
    const Vec low01 = _mm_unpacklo_ps(r0, r1), high01 = _mm_unpackhi_ps(r0, r1);
    const Vec low23 = _mm_unpacklo_ps(r2, r3), high23 = _mm_unpackhi_ps(r2, r3);
    to[0] = _mm_movelh_ps(low01, low23);
    to[1] = _mm_movehl_ps(low23, low01);
    to[2] = _mm_movelh_ps(high01, high23);
    to[3] = _mm_movehl_ps(high23, high01);
  }
};

#ifdef ATTEND_WHOLE_CHAINS
struct Sse2 : Unfused<Sse2Target, ByChains<2, 2>> {
  static constexpr bool chains_values = true;
  ATTEND_NOINLINE static bool chain(const float* factors, ptrdiff_t factor_stride, const float* vectors,
                                    ptrdiff_t vector_stride, int steps, Vec (&sums)[2][2]) {
    if (steps >= lanes && have_few_digits(factors, vectors)) return false;
    return chain_of_doubles(factors, factor_stride, vectors, vector_stride, steps, sums);
  }

  template <class Isa, class At, int rows, int vecs>
  ATTEND_ALWAYS_INLINE static void value_steps(At& at, int keys, Vec (&sums)[rows][vecs]) {
    if constexpr (sizeof(*at.value) == sizeof(float) && rows == chain_rows && vecs == chain_vecs) {
      Vec whole[rows][vecs];  // has an address, and so no registers
      if (chain(at.weights, at.factors(1) - at.factors(0), at.value, at.stride, keys, whole)) {
        for (int r = 0; r < rows; ++r) {
          for (int v = 0; v < vecs; ++v) sums[r][v] = whole[r][v];
        }
        at.weights += keys, at.value += keys * at.stride;
        return;
      }
    }
    BySteps::value_steps<Isa>(at, keys, sums);
  }
};
#else
using Sse2 = Unfused<Sse2Target>;
#endif
