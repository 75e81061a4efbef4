// Powers of two, and the weight of a score.
#pragma once

#include "float_rules.h"

namespace attend {
namespace {

// 2^f for f in [-1/2, 1/2] within 0.80 units in the last place, and exactly 1 at 0.
//
// The polynomial with float coefficients that has the smallest relative error, 3.7e-9, among those with constant term 1
// (found with Sollya's fpminimax: Brisebarre and Chevillard, 2007); the rest of the error is rounding.
template <class Isa>
typename Isa::Vec exp2_fraction(typename Isa::Vec f) {
  typename Isa::Vec g = Isa::broadcast(0x1.3fa208p-13f);
  g = Isa::fma(g, f, Isa::broadcast(0x1.5f0b82p-10f));
  g = Isa::fma(g, f, Isa::broadcast(0x1.3b30a0p-7f));
  g = Isa::fma(g, f, Isa::broadcast(0x1.c6af76p-5f));
  g = Isa::fma(g, f, Isa::broadcast(0x1.ebfbd8p-3f));
  g = Isa::fma(g, f, Isa::broadcast(0x1.62e430p-1f));
  return Isa::fma(g, f, Isa::broadcast(1.0f));
}

// The smallest whole number that is not below a.
inline float round_up(float a) {
  if (!(a < 0x1p23f && a > -0x1p23f)) return a;  // no fraction, or NaN
  const float shift = a < 0.0f ? -0x1p23f : 0x1p23f;
  const float nearest = (a + shift) - shift;
  return nearest < a ? nearest + 1.0f : nearest;
}

// The weight 2^(score - max) of a score in base 2, for a whole number max >= score.
//
// The polynomial sees only the score's own fraction, never max, and max only moves the exponent. So whatever max was when a
// key's turn came, the weight's digits are the same: that is what makes blocks of any size give the same bits.
// Minus infinity has weight 0; NaN and plus infinity have NaN.
template <class Isa>
typename Isa::Vec weight(typename Isa::Vec score, typename Isa::Vec max) {
  const typename Isa::Vec whole = Isa::round(score);
  const typename Isa::Vec fraction = Isa::sub(score, whole);
  return Isa::scale_by_power(exp2_fraction<Isa>(fraction), Isa::sub(whole, max));
}

}  // namespace
}  // namespace attend
