// Arithmetic of one float, the same to the bit on every target: by the processor, or by software where it has no floats, or no
// fused multiply-add, which is rounded once.

// a * b + c rounded once, for targets that have floats and doubles but not the instruction.
//
// The product of two floats is exact in double. Its sum with c is not, so the sum is rounded to odd: when something was cut
// off, the last bit is set. 53 bits rounded to odd, then to the nearest 24, give what one rounding would (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", 2008); a plain second rounding would be wrong for ties.
ATTEND_NOINLINE inline float software_fma(float a, float b, float c) {
  const double product = double(a) * double(b);
  const double sum = product + double(c);
  // What the sum cut off, exactly (Knuth's two-sum). Infinite and NaN operands make it NaN, which compares false below.
  const double c_added = sum - product;
  const double lost = (product - (sum - c_added)) + (double(c) - c_added);
  const uint64_t bits = bits_to<uint64_t>(sum);
  if (!(lost < 0.0 || lost > 0.0) || (bits & 1) != 0) return float(sum);
  const bool away_from_zero = (lost > 0.0) == (sum > 0.0);
  return float(bits_to<double>(away_from_zero ? bits + 1 : bits - 1));
}

inline float fused_multiply_add(float a, float b, float c) {
#if defined(ATTEND_FMA_OF)
  return ATTEND_FMA_OF(a, b, c);
#elif !ATTEND_ASSEMBLY && ATTEND_X86 && defined(ATTEND_FMA)
  return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
#elif defined(__clang__) && defined(__ARM_FEATURE_FMA) && defined(__arm__)
  // Clang's builtin would call the C library on targets whose library sets errno: bare metal.
  __asm__("vfma.f32 %0, %1, %2" : "+t"(c) : "t"(a), "t"(b));
  return c;
#elif defined(__clang__) && defined(__aarch64__)
  float result;
  __asm__("fmadd %s0, %s1, %s2, %s3" : "=w"(result) : "w"(a), "w"(b), "w"(c));
  return result;
#elif defined(__clang__) && defined(__riscv_flen)
  float result;
  __asm__("fmadd.s %0, %1, %2, %3" : "=f"(result) : "f"(a), "f"(b), "f"(c));
  return result;
#elif defined(__clang__) && ATTEND_X86 && (defined(ATTEND_FMA) || defined(__FMA__))
  __asm__("vfmadd231ss {%2, %1, %0|%0, %1, %2}" : "+x"(c) : "x"(a), "x"(b));
  return c;
#elif ATTEND_GNU && (defined(ATTEND_FMA) || defined(__FMA__) || defined(__aarch64__) || defined(__ARM_FEATURE_FMA) || \
                     defined(__riscv_flen) || defined(__FP_FAST_FMAF))
  return __builtin_fmaf(a, b, c);
#elif ATTEND_SOFT_DOUBLE
  return soft_fma(a, b, c);
#else
  return software_fma(a, b, c);
#endif
}

struct FloatArithmetic {
#if ATTEND_SOFT_FLOAT
  ATTEND_ALWAYS_INLINE static float add(float a, float b) { return soft_fma(a, 1.0f, b); }
  static float sub(float a, float b) { return soft_fma(b, -1.0f, a); }
  static float mul(float a, float b) { return soft_fma(a, b, 0.0f); }
  static bool less(float a, float b) { return soft_less(a, b); }
  static float reciprocal(float a) { return soft_reciprocal(a); }
  static int whole(float a) { return soft_truncated(a); }
#else
  static float add(float a, float b) { return a + b; }
  static float sub(float a, float b) { return a - b; }
  static float mul(float a, float b) { return a * b; }
  static bool less(float a, float b) { return a < b; }
  static float reciprocal(float a) { return 1.0f / a; }
  static int whole(float a) { return a == a ? int(a) : 0; }  // toward zero, of an int's range; any number for NaN
#endif
  static float fma(float a, float b, float c) { return fused_multiply_add(a, b, c); }
};
