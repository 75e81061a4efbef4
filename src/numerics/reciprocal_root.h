// 1 / sqrt(a) without an instruction for it, the same on every target.
#ifndef ATTEND_NUMERICS_RECIPROCAL_ROOT_H
#define ATTEND_NUMERICS_RECIPROCAL_ROOT_H

#include <stdint.h>

#include "arithmetic.h"

namespace attend::ATTEND_ISA {
namespace {

// 1 / sqrt(a) for a >= 2^-126, within 0.5001 units in the last place; 0 for infinity, NaN for NaN.
//
// Newton's iteration from a guess by the bits, whose error of 3.5 % shrinks to 1.8e-3, 4.8e-6 and a last bit in three steps.
// The fourth, like the others, takes the rounding of its product into account, and rounds almost every result correctly.
inline float reciprocal_root(float a) {
  using F = FloatArithmetic;
  if (magnitude(a) >= 0x7f800000u) return magnitude(a) == 0x7f800000u ? 0.0f : a;
  float y = bits_to<float>(0x5f3759dfu - (bits_to<uint32_t>(a) >> 1));
  for (int step = 0; step < 4; ++step) {
    const float product = F::mul(a, y), minus = bits_to<float>(bits_to<uint32_t>(product) ^ 0x80000000u);
    const float minus_rest = F::fma(F::sub(0.0f, a), y, product);  // what the product was rounded by
    const float short_of_one = F::fma(minus_rest, y, F::fma(minus, y, 1.0f));
    y = F::fma(F::mul(0.5f, y), short_of_one, y);
  }
  return y;
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
