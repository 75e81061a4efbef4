// Slopes of ALiBi, the same bits on every processor.
#pragma once

#include <cmath>
#include <cstdint>

namespace attend_ggml {

// The factor of a head's numbers of the mask (ALiBi: Press, Smith and Lewis, 2022): powers of 2^(-largest / n), n the largest
// power of two up to the number of heads; heads beyond take the odd powers of its root.
inline float slope_of(float largest, std::int64_t heads, std::int64_t head) {
  if (largest == 0) return 1;
  std::int64_t whole = 1;
  while (whole * 2 <= heads) whole *= 2;
  const double base = head < whole ? double(largest) / double(whole) : double(largest) / 2 / double(whole);
  const double power = -base * double(head < whole ? head + 1 : 2 * (head - whole) + 1);
  // 2^power by a series, whose operations are rounded alike on every processor: no product is added without being rounded to a
  // variable.
  const double nearest = std::floor(power + 0.5), x = (power - nearest) * 0.69314718055994530942;
  double sum = 1, term = 1;
  for (int i = 1; i < 24; ++i) {
    volatile double next = term * x / i;
    term = next;
    sum += term;
  }
  return float(std::ldexp(sum, int(nearest)));
}

}  // namespace attend_ggml
