// Numbers of 4 bits: groups of 32 that share a scale (core::Int4Group), one by one. Hosts widen vectors of them: kernel/widen.h.
#ifndef ATTEND_NUMERICS_INT4_H
#define ATTEND_NUMERICS_INT4_H

#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/core/formats.h"
#include "arithmetic.h"
#include "formats.h"

namespace attend::ATTEND_ISA {
namespace {

template <>
struct NumbersOf<core::Format::int4> {
  using Type = core::Int4Group;
};

// Numbers of a row, or inputs of 16 outputs that are packed, in an element of an array of weights.
template <class Number>
constexpr int group_inputs = 1;
template <>
constexpr int group_inputs<core::Int4Group> = core::int4_group;

template <class Number>
constexpr bool in_groups = group_inputs<Number> > 1;
static_assert(core::int4_group == 2 * chain_dims, "a byte has the weights of the same step of two chains");

// Where the numbers of a group of one output lie: a scale, and four bytes at a time.
struct Int4Numbers {
  uint32_t scale;  // float16
  const uint8_t* bytes;
  ptrdiff_t step;  // from four bytes to the next four
};

inline Int4Numbers numbers_of(const core::Int4Group& group) {
  return {uint32_t(group.scale[0]) | uint32_t(group.scale[1]) << 8, group.numbers, 4};
}
inline Int4Numbers numbers_of(const core::Int4Panel& panel, int output) {
  return {panel.scales[output], panel.numbers[0][output], 4 * panel_keys};
}

// An infinite scale becomes NaN.
inline float scale_of(const Int4Numbers& group) {
  const uint32_t nan = (group.scale & 0x7c00u) == 0x7c00u ? 0x7e00u : 0;
  return widen(Half{uint16_t(group.scale | nan)});
}

// The product of a number from -8 to 7 and a float that a float16 became, which is exact: what a processor without a
// floating-point unit does in few steps, and without the stack of a multiplication.
inline float soft_times_scale(int number, float scale) {
  constexpr uint32_t unit = 1u << 23;  // of the exponent
  const uint32_t bits = bits_to<uint32_t>(scale), sign = (bits ^ uint32_t(number)) & 0x80000000u;
  uint32_t size = bits & 0x7fffffffu;
  if (size >= 0x7f800000u) return scale;
  if (number == 0 || size == 0) return bits_to<float>(sign);
  uint32_t digits = ((size & (unit - 1)) | unit) * uint32_t(number < 0 ? -number : number);
  for (size &= ~(unit - 1); digits >= 2 * unit; digits >>= 1) size += unit;
  return bits_to<float>(sign | (size + (digits - unit)));
}

// The number in the low or, of chain 1, in the high half of a byte.
inline float widen_half_byte(uint8_t byte, int chain, float scale) {
  const int number = (byte >> 4 * chain & 15) - 8;
#if ATTEND_SOFT_FLOAT
  return soft_times_scale(number, scale);
#else
  return FloatArithmetic::mul(widen(int8_t(number)), scale);
#endif
}

// One of the two chains of a group, its numbers `stride` floats apart.
inline void widen_chain(const Int4Numbers& from, int chain, float* to, ptrdiff_t stride = 1) {
  const float scale = scale_of(from);
  const uint8_t* bytes = from.bytes;
  for (int i = 0; i < chain_dims; i += 4, bytes += from.step) {
    for (int byte = 0; byte < 4; ++byte, to += stride) *to = widen_half_byte(bytes[byte], chain, scale);
  }
}

// Some columns of a row of groups, from any on.
ATTEND_NOINLINE inline void widen_columns(const core::Int4Group* row, int column, int count, float* to) {
  for (const int end = column + count; column < end;) {
    const Int4Numbers group = numbers_of(row[column / core::int4_group]);
    const float scale = scale_of(group);
    do {
      const int chain = column / chain_dims & 1;
      *to++ = widen_half_byte(group.bytes[column % chain_dims], chain, scale);
    } while (++column < end && column % core::int4_group != 0);
  }
}

// to[i][lane] = number i of the group of each lane of a panel.
ATTEND_NOINLINE inline void widen_by_lanes(const core::Int4Panel& panel, float* to) {
  for (int lane = 0; lane < panel_keys; ++lane) {
    for (int chain = 0; chain < 2; ++chain) {
      widen_chain(numbers_of(panel, lane), chain, to + chain * chain_dims * panel_keys + lane, panel_keys);
    }
  }
}

// A group of floats, rounded as linear.h says.
inline void narrow_to_group(const float* from, core::Int4Group& to) {
  using F = FloatArithmetic;
  float max = 0.0f;
  bool is_finite = true;
  for (int i = 0; i < core::int4_group; ++i) {
    if (magnitude(from[i]) > magnitude(max)) max = from[i];
    is_finite = is_finite && magnitude(from[i]) < 0x7f800000u;
  }
  // Where the quotient is subnormal its reciprocal may be too large, and float16 has nothing but 0 for it.
  const bool is_zero = magnitude(max) < magnitude(9.403955e-38f) || !is_finite;  // 2^-123
  const float scale = is_zero ? -0.0f : F::mul(max, -0.125f), factor = is_zero ? 0.0f : F::reciprocal(scale);
  const uint32_t bits = is_finite ? to_half(scale).bits : 0x7e00u;
  to.scale[0] = uint8_t(bits & 0xff);
  to.scale[1] = uint8_t(bits >> 8);
  const auto number = [=](float x) {
    const int steps = is_zero ? 8 : F::whole(F::add(F::mul(x, factor), 8.5f));
    return uint32_t(steps > 15 ? 15 : steps);
  };
  // One by one: QEMU 7.2 stops at what Clang makes of this for the vectors of RISC-V.
  for (int i = 0; i < 16; ++i, from = opaque(from + 1)) to.numbers[i] = uint8_t(number(from[0]) | number(from[16]) << 4);
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
