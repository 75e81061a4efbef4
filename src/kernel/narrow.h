// A row of floats as numbers of another format, for caches and weights:
//
//   float16, bfloat16   the nearest number, ties to even
//   int8                one of 127 steps to each side: number = scale * byte, with a scale for the row
#ifndef ATTEND_KERNEL_NARROW_H
#define ATTEND_KERNEL_NARROW_H

#include "../isa/scalar/operations.h"
#include "../numerics/formats.h"

namespace attend::ATTEND_ISA {
namespace {

// Returns the scale, so that the largest number becomes 127 or -127. Sizes are compared as integers, and what is not finite
// never gets to be converted: such a row's scale is NaN.
inline float narrow_to_bytes(const float* from, int count, int8_t* to, ptrdiff_t stride) {
  constexpr uint32_t infinity = 0x7f800000u;
  uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    if (magnitude(from[i]) > largest) largest = magnitude(from[i]);
  }
  const float max = bits_to<float>(largest);
  if (largest == 0 || largest >= infinity) {
    for (int i = 0; i < count; ++i) to[i * stride] = 0;
    return largest == 0 ? 0.0f : bits_to<float>(0x7fc00000u);
  }
  // Numbers whose reciprocal may be too large, or which are subnormal, are made larger first.
  const float up = largest < magnitude(0x1p-64f) ? 0x1p64f : 1.0f;
  const float factor = Scalar::mul(127.0f, Scalar::reciprocal(Scalar::mul(max, up)));
  for (int i = 0; i < count; ++i) {
    constexpr float shift = 0x1.8p23f;  // leaves the nearest whole number in the low bits
    const float shifted = Scalar::add(Scalar::mul(Scalar::mul(from[i], up), factor), shift);
    to[i * stride] = int8_t(int32_t(bits_to<uint32_t>(shifted)) - bits_to<int32_t>(shift));
  }
  constexpr float part = 1.0f / 127.0f;
  return Scalar::mul(max, part);
}

// Writes `count` numbers, `stride` apart; *scale is written where the format has scales.
template <core::Format format>
void narrow_row_to(const float* from, int count, NumberOf<format>* to, ptrdiff_t stride, float* scale) {
  if constexpr (format == core::Format::int8) {
    *scale = narrow_to_bytes(from, count, to, stride);
  } else {
    for (int i = 0; i < count; ++i) narrow(from[i], to + i * stride);
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
