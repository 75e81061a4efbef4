// Numbers of ggml's formats as floats, exactly, and floats as numbers of fewer bits. Code of the adapter's own, so that it does
// not depend on the processor; compilers make vectors of the loops.
#pragma once

#include <cstdint>
#include <cstring>

#include "ggml.h"

namespace attend_ggml {

// 32 numbers of 8 bits that share a scale of float16.
constexpr int q8_numbers = 32;
struct Q8Block {
  std::uint16_t scale;
  std::int8_t numbers[q8_numbers];
};
static_assert(sizeof(Q8Block) == 34, "blocks have no gaps");

inline float float_of_bits(std::uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}
inline std::uint32_t bits_of_float(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

inline float widened_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t(half & 0x8000) << 16, rest = std::uint32_t(half & 0x7fff) << 13;
  // As the bits of a float the exponent is too small by 112; the product is exact, and normalises what is subnormal. Without a
  // branch, so that loops of it become vectors.
  const std::uint32_t finite = bits_of_float(float_of_bits(rest) * 5192296858534827628530496329220096.0f);
  const std::uint32_t infinite = 0u - std::uint32_t(rest >= 0x0f800000);
  return float_of_bits(sign | finite | (infinite & 0x7f800000));
}
inline float widened_bfloat(std::uint16_t number) { return float_of_bits(std::uint32_t(number) << 16); }

// The nearest numbers, ties to even.
inline std::uint16_t narrowed_half(float number) {
  const std::uint32_t bits = bits_of_float(number), magnitude = bits & 0x7fffffff;
  const std::uint32_t sign = bits >> 16 & 0x8000;
  if (magnitude > 0x7f800000) return std::uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));  // a NaN
  if (magnitude >= 0x47800000) return std::uint16_t(sign | 0x7c00);                             // 2^16 and more
  if (magnitude < 0x38800000) {  // subnormal: the sum with 0.5 has steps of 2^-24
    return std::uint16_t(sign | (bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000));
  }
  return std::uint16_t(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
}
inline std::uint16_t narrowed_bfloat(float number) {
  const std::uint32_t bits = bits_of_float(number);
  if ((bits & 0x7fffffff) > 0x7f800000) return std::uint16_t(bits >> 16 | 64);
  return std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Bytes of a row of `count` numbers; 0 where the adapter does not read the type, or the row is not whole blocks.
std::size_t row_bytes(int type, std::int64_t count);

// A row as floats.
void widen_row(int type, const void* from, std::int64_t count, float* to);

// A row of floats as numbers of another type: of float32, float16, bfloat16 or Q8_0. Those of Q8_0 are by the format's
// reference: the scale is the largest magnitude divided by 127, and a number the nearest of its quotient by it, ties away from
// 0.
void narrow_row(int type, const float* from, std::int64_t count, void* to);
inline bool is_narrow_type(int type) {
  return type == type_float32 || type == type_float16 || type == type_bfloat16 || type == type_q8_0;
}

}  // namespace attend_ggml
