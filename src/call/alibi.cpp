// The slopes of ALiBi: powers of two with fractional exponents, in integers.
#include "../../include/attend/core/options.h"

#include "portable.h"

namespace attend::core {
namespace {

constexpr int most_roots = 14;  // of 65536 heads, whose exponents are multiples of 4 / 65536

// 2^-(1/2), 2^-(1/4), 2^-(1/8) ... in units of 2^-64, each rounded to the nearest.
constexpr uint64_t roots[most_roots] = {0xb504f333f9de6484u, 0xd744fccad69d6af4u, 0xeac0c6e7dd24392fu, 0xf5257d152486cc2cu,
                                        0xfa83b2db722a033au, 0xfd3e0c0cf486c175u, 0xfe9e115c7b8f884cu, 0xff4ecb59511ec8a5u,
                                        0xffa756521c8daed2u, 0xffd3a751c0f7e10cu, 0xffe9d2b2f7db2756u, 0xfff4e91bff1b8c3eu,
                                        0xfffa747ea0040664u, 0xfffd3a3b7814eb54u};

// The upper half of a product, or up to 3 less.
uint64_t high_product(uint64_t a, uint64_t b) {
  const uint64_t a_high = a >> 32, a_low = uint32_t(a), b_high = b >> 32, b_low = uint32_t(b);
  return a_high * b_high + (a_high * b_low >> 32) + (a_low * b_high >> 32);
}

// 2^-exponent for an exponent in units of 2^-most_roots. No product of such powers lies so near to the middle between two
// floats that what is lost of it, at most 2^-57, could change how it is rounded; tests look at every one.
float power_of(uint32_t exponent) {
  uint64_t power = uint64_t(1) << 63;  // of the fraction, which makes it more than 2^62
  for (int i = 0; i < most_roots; ++i) {
    if ((exponent >> (most_roots - 1 - i) & 1) != 0) power = high_product(power, roots[i]);
  }
  const uint64_t digits = (power + (uint64_t(1) << 38)) >> 39;  // 2^23 ... 2^24
  return bits_to<float>(((126 - (exponent >> most_roots)) << 23) + uint32_t(digits - (1 << 23)));
}

}  // namespace

void alibi_slopes(int heads, float* slopes) {
  const int levels = floor_log2(uint32_t(heads)), whole = 1 << levels;
  for (int head = 0; head < heads; ++head) {
    const int fourths = head < whole ? 2 * (head + 1) : 2 * (head - whole) + 1;  // of 4 / whole
    slopes[head] = power_of(uint32_t(fourths) << (most_roots + 2 - levels));
  }
}

}  // namespace attend::core
