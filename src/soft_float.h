// Arithmetic of floats with integers, for processors without a floating-point unit: correctly rounded, to nearest, ties to
// even.
//
// Half the size of a compiler's own routines, because everything is one multiply-add: a + b = a * 1 + b. The sign of a zero is
// not kept, and a NaN is some quiet NaN.
#pragma once

#include <stdint.h>

#include "../include/attend/config.h"
#include "bits.h"
#include "float_rules.h"

namespace attend {
namespace {

constexpr uint32_t soft_infinity = 0x7f800000u;
constexpr uint32_t soft_nan = 0x7fc00000u;

// Two words as one. Shifts of these by a number that is not known are calls on the smallest processors, and are avoided.
inline uint64_t wide(uint32_t high, uint32_t low) { return uint64_t(high) << 32 | low; }

inline uint64_t wide_product(uint32_t a, uint32_t b) {
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  // From 16 x 16 bits: there is no larger product, and the compiler would call for one.
  const uint32_t a_high = a >> 16, a_low = a & 0xffffu, b_high = b >> 16, b_low = b & 0xffffu;
  const uint32_t middle = a_high * b_low + a_low * b_high;  // no carry: a and b have 31 bits
  return wide(a_high * b_high + (middle >> 16), 0) + wide(0, a_low * b_low) + wide(0, middle << 16);
#else
  return uint64_t(a) * b;
#endif
}

// a / 2^n; what is cut off leaves a trace in the last bit.
inline uint64_t shifted_right(uint64_t a, int n) {
  uint32_t high = uint32_t(a >> 32), low = uint32_t(a);
  if (n >= 32) {
    low = high | (low != 0 ? 1u : 0u);
    high = 0;
    n -= 32;
    if (n >= 32) return low != 0 ? 1 : 0;
  }
  if (n == 0) return wide(high, low);
  const uint32_t lost = low << (32 - n);
  return wide(high >> n, (high << (32 - n)) | (low >> n) | (lost != 0 ? 1u : 0u));
}

// The float nearest to +-a * 2^(exponent - 190), where a's last bit may stand for more bits below it. exponent is that of the
// float, as it is stored, if a's highest bit is set.
ATTEND_CODE ATTEND_APART inline float soft_rounded(uint64_t a, uint32_t sign, int exponent) {
  if (a == 0) return 0.0f;
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  for (; int64_t(a) >= 0; a += a) --exponent;
#else
  uint32_t upper = uint32_t(a >> 32);
  if (upper == 0) {
    a <<= 32;
    upper = uint32_t(a >> 32);
    exponent -= 32;
  }
  const int zeros = __builtin_clz(upper);
  a <<= zeros;
  exponent -= zeros;
#endif
  if (unsigned(exponent - 1) >= 254) {
    if (exponent >= 255) return bits_to<float>(sign | soft_infinity);
    if (exponent < -24) return 0.0f;
    // Subnormal: the digits move down, and the highest bit is no longer implied.
    a = shifted_right(a, 1 - exponent);
    exponent = 1;
  }
  // A carry out of the digits goes where it belongs, into the exponent; so does the highest bit of a number that is not
  // subnormal.
  const uint32_t high = uint32_t(a >> 32);
  uint32_t bits = sign + (uint32_t(exponent - 1) << 23) + (high >> 8);
  const uint32_t rest = (high << 24) | (uint32_t(a) != 0 ? 1u : 0u), half = 0x80000000u;
  if (rest > half || (rest == half && (bits & 1) != 0)) ++bits;
  return bits_to<float>(bits);
}

// Exponent and 24 digits of a float that is neither infinite nor NaN nor 0.
struct Parts {
  int exponent;
  uint32_t digits;
};

inline Parts soft_parts(uint32_t bits) {
  Parts parts{int(bits >> 23 & 255), bits & 0x7fffffu};
  if (parts.exponent != 0) {
    parts.digits |= 0x800000u;
  } else {
    for (parts.exponent = 1; (parts.digits & 0x800000u) == 0; --parts.exponent) parts.digits <<= 1;
  }
  return parts;
}

// a * b + c where one of them is infinite or NaN, or the product is 0.
ATTEND_APART inline float soft_special(float a, float b, float c) {
  const uint32_t infinity = soft_infinity, product_sign = (bits_to<uint32_t>(a) ^ bits_to<uint32_t>(b)) & 0x80000000u;
  const uint32_t a_size = magnitude(a), b_size = magnitude(b), c_size = magnitude(c);
  const bool infinite = a_size == infinity || b_size == infinity;
  if (a_size > infinity || b_size > infinity || c_size > infinity || (infinite && (a_size == 0 || b_size == 0)) ||
      (infinite && c_size == infinity && (bits_to<uint32_t>(c) ^ product_sign) != infinity)) {
    return bits_to<float>(soft_nan);
  }
  return infinite ? bits_to<float>(product_sign | infinity) : c;
}

// a * b + c
ATTEND_CODE ATTEND_APART inline float soft_fma(float a, float b, float c) {
  const uint32_t a_bits = bits_to<uint32_t>(a), b_bits = bits_to<uint32_t>(b), c_bits = bits_to<uint32_t>(c);
  int a_exponent = int(a_bits << 1 >> 24), b_exponent = int(b_bits << 1 >> 24), c_exponent = int(c_bits << 1 >> 24);
  uint32_t a_digits = (a_bits << 8 | 0x80000000u) >> 1, b_digits = (b_bits << 8 | 0x80000000u) >> 1;
  if (unsigned(a_exponent - 1) >= 254 || unsigned(b_exponent - 1) >= 254 || c_exponent == 255) {
    if (a_exponent == 255 || b_exponent == 255 || c_exponent == 255 || magnitude(a) == 0 || magnitude(b) == 0) {
      return soft_special(a, b, c);
    }
    const Parts a_parts = soft_parts(a_bits), b_parts = soft_parts(b_bits);
    a_exponent = a_parts.exponent, b_exponent = b_parts.exponent;
    a_digits = a_parts.digits << 7, b_digits = b_parts.digits << 7;
  }

  // Both terms as 62 bits: the product exact, and 38 zeros below the digits of c.
  uint32_t sign = (a_bits ^ b_bits) & 0x80000000u;
  uint64_t sum = wide_product(a_digits, b_digits);
  int exponent = a_exponent + b_exponent - 124;
  if (magnitude(c) != 0) {
    uint32_t c_digits = (c_bits & 0x7fffffu) << 6;
    if (c_exponent != 0) {
      c_digits |= 0x800000u << 6;
    } else {
      c_exponent = 1;
    }
    uint64_t other = wide(c_digits, 0);
    const int apart = exponent - 2 - c_exponent;
    if (apart < 0) {
      sum = shifted_right(sum, -apart);
      exponent -= apart;
    } else {
      other = shifted_right(other, apart);
    }
    if (int32_t(c_bits ^ sign) >= 0) {
      sum += other;
    } else {
      sum -= other;
      if (int64_t(sum) < 0) {
        sum = 0 - sum;
        sign ^= 0x80000000u;
      }
    }
  }
  return soft_rounded(sum, sign, exponent);
}

// 1 / a, digit by digit.
ATTEND_CODE ATTEND_APART inline float soft_reciprocal(float a) {
  const uint32_t bits = bits_to<uint32_t>(a), size = bits << 1, sign = bits & 0x80000000u;
  if (size > soft_infinity << 1) return a;
  if (size == soft_infinity << 1) return 0.0f;
  if (size == 0) return bits_to<float>(sign | soft_infinity);
  const Parts parts = soft_parts(bits);
  uint32_t quotient = 0, remainder = 0x800000u;
  for (int digit = 0; digit < 32; ++digit) {
    quotient <<= 1;
    if (remainder >= parts.digits) {
      remainder -= parts.digits;
      quotient |= 1;
    }
    remainder <<= 1;
  }
  return soft_rounded(wide(quotient, remainder), sign, 254 - parts.exponent);
}

// a < b; false where one is NaN.
ATTEND_CODE ATTEND_APART inline bool soft_less(float a, float b) {
  const int32_t a_bits = bits_to<int32_t>(a), b_bits = bits_to<int32_t>(b);
  const uint32_t a_size = uint32_t(a_bits) << 1, b_size = uint32_t(b_bits) << 1;
  if (a_size > soft_infinity << 1 || b_size > soft_infinity << 1 || (a_size | b_size) == 0) return false;
  return (a_bits & b_bits) < 0 ? a_bits > b_bits : a_bits < b_bits;
}

// The whole number that is left of a without its fraction; |a| < 2^31.
inline int32_t soft_truncated(float a) {
  const uint32_t bits = bits_to<uint32_t>(a);
  const int shift = 158 - int(bits >> 23 & 255);
  if (shift > 31) return 0;
  const int32_t whole = int32_t((0x80000000u | bits << 8) >> shift);
  return int32_t(bits) < 0 ? -whole : whole;
}

}  // namespace
}  // namespace attend
