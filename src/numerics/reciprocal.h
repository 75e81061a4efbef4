// Division without an instruction for it, by Newton's iteration: the same on every target.
#ifndef ATTEND_NUMERICS_RECIPROCAL_H
#define ATTEND_NUMERICS_RECIPROCAL_H

#include "float_rules.h"

namespace attend::ATTEND_ISA {
namespace {

// -1 / a within 1.3 units in the last place, for -2^40 < a <= -1, by Newton's iteration from a guess by the bits: the same on
// every target, and faster than division where vectors are wide.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec near_minus_reciprocal(typename Isa::Vec a) {
  using Vec = typename Isa::Vec;
  const Vec one = Isa::broadcast(1.0f);
  Vec y = Isa::minus_reciprocal_guess(a);
  ATTEND_UNROLL
  for (int step = 0; step < 3; ++step) y = Isa::fma(y, Isa::fma(a, y, one), y);
  return y;
}

// a / b for 1 <= b < 2^40, rounded correctly but for rare cases in which the last bit is the neighbour's: the remainder of a
// first quotient is exact, and corrects it.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec near_quotient(typename Isa::Vec a, typename Isa::Vec b) {
  using Vec = typename Isa::Vec;
  const Vec minus_b = Isa::sub(Isa::zero(), b), reciprocal = near_minus_reciprocal<Isa>(minus_b);
  const Vec quotient = Isa::mul(a, reciprocal);
  return Isa::fma(Isa::fma(minus_b, quotient, a), reciprocal, quotient);
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
