// The error function, and the tail of the normal distribution.
#ifndef ATTEND_NUMERICS_ERROR_FUNCTION_H
#define ATTEND_NUMERICS_ERROR_FUNCTION_H

#include "../../include/attend/core/config.h"
#include "exponential.h"

namespace attend::ATTEND_ISA {
namespace {

// Polynomials with float coefficients of small relative error, found with Remez's algorithm, one coefficient after the other
// rounded to a float and the others fitted anew.
//   erf(x) = x + x * P(x^2) for |x| <= 1, to 1.5e-9
ATTEND_HOT_DATA constexpr float erf_coefficients[] = {0x1.4771f0p-14f, -0x1.a3515cp-11f, 0x1.53f224p-8f, -0x1.b7f71ap-6f,
                                                      0x1.ce2ce6p-4f,  -0x1.81273ep-2f,  0x1.06eba8p-3f};
//   erf(x / sqrt(2)) / 2 = x * P(x^2) for |x| <= 1, to 2.9e-9 of the smaller of 1/2 +- that
ATTEND_HOT_DATA constexpr float middle_coefficients[] = {-0x1.1216a8p-17f, 0x1.e26a7ep-14f, -0x1.376e9ep-10f,
                                                         0x1.46d558p-7f,   -0x1.105862p-4f, 0x1.988454p-2f};
//   erfc(u / sqrt(2)) * e^(u^2 / 2) / 2 = w * P(w) with w = 1 / (1 + u * 3/8), for 1 <= u <= 16, to 3.2e-9
ATTEND_HOT_DATA constexpr float tail_coefficients[] = {-0x1.6f54ecp-5f, 0x1.723b82p-3f,  -0x1.03a932p-2f,
                                                       0x1.b0f106p-4f,  -0x1.5ee9e4p-7f, 0x1.8984b6p-4f,
                                                       0x1.0499cep-3f,  0x1.3298aap-3f,  0x1.32617ap-3f};

template <class Isa, int count>
ATTEND_ALWAYS_INLINE typename Isa::Vec polynomial(const float (&coefficients)[count], typename Isa::Vec x) {
  typename Isa::Vec sum = Isa::broadcast(coefficients[0]);
  ATTEND_UNROLL
  for (int i = 1; i < count; ++i) sum = Isa::fma(sum, x, Isa::broadcast(coefficients[i]));
  return sum;
}

// e^(-half * u^2), with all digits of the square, for half * u^2 <= 128; half is 1/2 or 1.
template <class Isa>
ATTEND_ALWAYS_INLINE Power<Isa> bell(typename Isa::Vec u, float half) {
  using Vec = typename Isa::Vec;
  const Vec minus_u = Isa::sub(Isa::zero(), u), by = Isa::broadcast(half * log2_e);
  const Vec factor = Isa::mul(u, by);
  const Vec rest = Isa::fma(u, Isa::broadcast(half * log2_e_rest), Isa::fma(u, by, Isa::sub(Isa::zero(), factor)));
  return power_of_two<Isa>(minus_u, factor, rest);
}

// The polynomial of tails: the probability that a normally distributed number is above u, divided by e^(-u^2 / 2),
// for 1 <= u <= 16; some number below.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec tail_ratio(typename Isa::Vec u) {
  const typename Isa::Vec one = Isa::broadcast(1.0f);
  const typename Isa::Vec w = near_quotient<Isa>(one, Isa::fma(u, Isa::broadcast(0.375f), one));
  return Isa::mul(w, polynomial<Isa>(tail_coefficients, w));
}

template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec error_function(typename Isa::Vec x) {
  using Vec = typename Isa::Vec;
  const Vec size = Isa::min(size_of<Isa>(x), Isa::broadcast(4.0f)), one = Isa::broadcast(1.0f);
  const Vec small = Isa::fma(size, polynomial<Isa>(erf_coefficients, Isa::mul(size, size)), size);
  const Vec twice = Isa::mul(tail_ratio<Isa>(Isa::mul(size, Isa::broadcast(0x1.6a09e6p0f))), Isa::broadcast(-2.0f));
  const Vec large = Isa::fma(twice, small_number<Isa>(bell<Isa>(size, 1.0f)), one);
  const Vec sized = where_at_least<Isa>(size, one, large, small);
  return where_at_least<Isa>(x, Isa::zero(), sized, Isa::sub(Isa::zero(), sized));
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
