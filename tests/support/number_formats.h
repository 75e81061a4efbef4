// Numbers as they lie in memory: float32, float16, bfloat16, int8, and int4 in groups with a scale, by arithmetic on doubles
// instead of on bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attend/layers/core_linear.h"

namespace attend_test {

using attend::core::Format;

// The code of the nearest number of a format with 16 bits, ties to even; digits counts those after the point.
inline std::uint16_t narrowed(double x, int digits) {
  const int exponent_bits = 15 - digits, bias = (1 << (exponent_bits - 1)) - 1;
  const auto sign = std::uint16_t(std::signbit(x) ? 0x8000 : 0);
  const auto infinity = std::uint16_t(((1 << exponent_bits) - 1) << digits);
  if (std::isnan(x)) return std::uint16_t(sign | infinity | 1 << (digits - 1));
  if (x == 0.0) return sign;
  if (std::isinf(x)) return std::uint16_t(sign | infinity);
  const int exponent = std::max(std::ilogb(x), 1 - bias);
  // The code counts the numbers below: carries into the next exponent, and into infinity, come by themselves.
  const double steps = std::nearbyint(std::ldexp(std::fabs(x), digits - exponent));
  const double code = steps + std::ldexp(double(exponent + bias - 1), digits);
  return std::uint16_t(sign | (code < double(infinity) ? std::uint16_t(code) : infinity));
}

inline float widened(std::uint16_t code, int digits) {
  const int exponent_bits = 15 - digits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (code & 0x7fff) >> digits, fraction = code & ((1 << digits) - 1);
  double x = exponent == 0 ? std::ldexp(double(fraction), 1 - bias - digits)
                           : std::ldexp(double(fraction + (1 << digits)), exponent - bias - digits);
  if (exponent == (1 << exponent_bits) - 1) x = fraction == 0 ? INFINITY : NAN;
  return float(code & 0x8000 ? -x : x);
}

// An array of numbers of a format. It ends where the last ends, so that an address sanitizer sees every step beyond.
class Numbers {
 public:
  // Panels: numbers of int4 are counted as those of packed weights, 16 outputs of each input.
  explicit Numbers(Format format = Format::float32, std::size_t count = 0, bool panels = false)
      : format_(format), panels_(panels), count_(count), bytes_(attend::core::format_bytes(format, count)) {}

  std::size_t size() const { return count_; }

  std::size_t bytes() const { return bytes_.size(); }

  // The scale of the group of number i of int4: two bytes, of panels a number.
  void set_scale(std::size_t i, std::uint16_t code) {
    unsigned char* const to = &bytes_[place(i).scale];
    if (panels_) {
      std::memcpy(to, &code, sizeof code);
    } else {
      to[0] = static_cast<unsigned char>(code & 0xff), to[1] = static_cast<unsigned char>(code >> 8);
    }
  }

  // Of int4, a multiple of the scale that was set, or NaN.
  void set(std::size_t i, float x) {
    if (format_ == Format::int4) return set_four_bits(i, x);
    const std::size_t size = attend::core::format_bytes(format_);
    unsigned char* to = &bytes_[i * size];
    if (format_ == Format::float32) {
      std::memcpy(to, &x, size);
    } else if (format_ == Format::int8) {
      *to = static_cast<unsigned char>(static_cast<signed char>(std::isnan(x) ? -128.0f : x));
    } else {
      const std::uint16_t code = narrowed(double(x), format_ == Format::float16 ? 10 : 7);
      std::memcpy(to, &code, size);
    }
  }

  float get(std::size_t i) const {
    if (format_ == Format::int4) {
      const Place at = place(i);
      return float((bytes_[at.number] >> at.shift & 15) - 8) * scale(at);
    }
    const std::size_t size = attend::core::format_bytes(format_);
    const unsigned char* from = &bytes_[i * size];
    if (format_ == Format::int8) return float(static_cast<signed char>(*from));
    float x;
    std::uint16_t code;
    if (format_ == Format::float32) {
      std::memcpy(&x, from, size);
      return x;
    }
    std::memcpy(&code, from, size);
    return widened(code, format_ == Format::float16 ? 10 : 7);
  }

  // Of int4, the four bits of a number.
  void set_code(std::size_t i, int code) {
    const Place at = place(i);
    bytes_[at.number] = static_cast<unsigned char>((bytes_[at.number] & 0xf0 >> at.shift) | code << at.shift);
  }

  void fill(float x) {
    for (std::size_t i = 0; i < size(); ++i) set(i, x);
  }

  // For the tensors of a problem, whose type says float whatever the format.
  float* data() { return reinterpret_cast<float*>(bytes_.data()); }

 private:
  // Where a number of int4 lies.
  struct Place {
    std::size_t scale, number;
    int shift;
  };
  Place place(std::size_t i) const {
    const std::size_t outputs = panels_ ? 16 : 1, output = i % outputs, input = i / outputs, group = input / 32 * 18 * outputs;
    const std::size_t byte = input % 16, four = panels_ ? (byte / 4 * 16 + output) * 4 + byte % 4 : byte;
    return {group + 2 * output, group + 2 * outputs + four, input % 32 < 16 ? 0 : 4};
  }
  float scale(const Place& at) const {
    std::uint16_t code = std::uint16_t(bytes_[at.scale] | bytes_[at.scale + 1] << 8);
    if (panels_) std::memcpy(&code, &bytes_[at.scale], sizeof code);
    const float x = widened(code, 10);
    return std::isinf(x) ? NAN : x;
  }
  void set_four_bits(std::size_t i, float x) {
    const Place at = place(i);
    if (std::isnan(x)) set_scale(i, 0x7e00);
    if (std::isnan(x) || (x == 0.0f && scale(at) == 0.0f)) return;
    set_code(i, int(double(x) / double(scale(at))) + 8);
  }

  Format format_;
  bool panels_;
  std::size_t count_;
  std::vector<unsigned char> bytes_;
};

// x as a number of the format.
inline float rounded_to(Format format, float x) {
  if (format == Format::float32) return x;
  Numbers one(format, sizeof x);  // room for a float, which GCC for s390x believes is stored
  one.set(0, x);
  return one.get(0);
}

}  // namespace attend_test
