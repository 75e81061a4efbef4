// The bits of a float as an integer, and back.
#ifndef ATTEND_NUMERICS_BITS_H
#define ATTEND_NUMERICS_BITS_H

#include <stdint.h>

namespace attend::ATTEND_ISA {
namespace {

template <class To, class From>
To bits_to(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// |a| as an integer that orders floats like their size, NaN above infinity.
inline uint32_t magnitude(float a) { return bits_to<uint32_t>(a) & 0x7fffffffu; }

constexpr uint32_t minus_infinity = 0xff800000u;

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
