// Operands of a multiply-add, of all the kinds that arithmetic in software has code for.
#pragma once

#include <stdint.h>

#include "random.h"

namespace attend_test {

inline float float_of(uint32_t bits) {
  float number;
  __builtin_memcpy(&number, &bits, sizeof number);
  return number;
}

inline uint32_t bits_of(float number) {
  uint32_t bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  return bits;
}

inline float with_exponent(uint32_t bits, int exponent) { return float_of((bits & 0x807fffffu) | uint32_t(exponent) << 23); }

struct Numbers {
  float a, b, c;
};

// Numbers of all kinds: any bits; products that c nearly cancels; few digits, for ties; exponents that meet; results that are
// subnormal, or too large.
inline Numbers draw(Random& random, int kind) {
  Numbers n{float_of(random.bits()), float_of(random.bits()), float_of(random.bits())};
  switch (kind) {
    case 1:
      n.c = float_of(bits_of(-(n.a * n.b)) + uint32_t(random.between(-2, 2)));
      break;
    case 2:
      n.a = with_exponent(random.bits() & 0x807ff800u, random.between(100, 150));
      n.b = with_exponent(random.bits() & 0x807ff800u, random.between(100, 150));
      n.c = with_exponent(random.bits(), random.between(50, 200));
      break;
    case 3:
      n.a = with_exponent(random.bits() & 0xffff0000u, random.between(120, 135));
      n.b = with_exponent(random.bits() & 0xfff80000u, random.between(120, 135));
      n.c = with_exponent(random.bits() & 0xfff00000u, random.between(80, 180));
      break;
    case 4:
      n.a = with_exponent(random.bits(), random.between(120, 135));
      n.b = with_exponent(random.bits(), random.between(120, 135));
      n.c = with_exponent(random.bits(), random.between(110, 150));
      break;
    case 5:
      n.a = with_exponent(random.bits(), random.between(0, 40));
      n.b = with_exponent(random.bits(), random.between(60, 160));
      n.c = with_exponent(random.bits(), random.between(0, 3));
      break;
    case 6:
      n.a = with_exponent(random.bits(), 0);
      break;
    case 7:
      n.a = with_exponent(random.bits(), random.between(230, 254));
      n.b = with_exponent(random.bits(), random.between(120, 135));
      break;
    default:
      break;
  }
  return n;
}

}  // namespace attend_test
