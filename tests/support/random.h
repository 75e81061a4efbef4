// Inputs that every target and compiler makes alike: whole-number arithmetic, and floats that are exact.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "float_environment.h"

namespace attend_test {

// A small counter-based generator (the output function is the finaliser of splitmix64: Steele, Lea and Flood, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}

  // Draws two of the given bytes each time while there are some, then as with a seed that is their hash: so a fuzzer decides
  // what is drawn first, and few bytes make a whole problem.
  Random(const uint8_t* bytes, size_t count) : Random(count) {
    given_ = bytes, left_ = count;
    for (size_t i = 0; i < count; ++i) state_ = (state_ ^ bytes[i]) * 0x100000001b3u;
  }

  uint32_t bits() {
    if (left_ >= 2) {
      const uint32_t low = given_[0], high = given_[1];
      given_ += 2, left_ -= 2;
      return high << 24 | low << 16 | high << 8 | low;  // uniform() takes the high bits, between() all
    }
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return uint32_t((z ^ (z >> 31)) >> 32);
  }

  // Uniform in [low, high], whole.
  int between(int low, int high) { return low + int(bits() % uint32_t(high - low + 1)); }

  // Uniform in [-1, 1) in steps of 2^-23.
  float uniform() { return float(int32_t(bits() >> 8) - 0x800000) * 0x1p-23f; }

  // Within `middle` - spread … middle + spread, rounded to the nearest, also where a test has set another environment.
  float around(float middle, float spread) {
    float number;
    in_environment(float_environments[0], [&] { number = middle + uniform() * spread; });
    return number;
  }
  // The same around 0.
  void fill(float* to, size_t count, float spread = 1.0f) {
    in_environment(float_environments[0], [&] {
      for (size_t i = 0; i < count; ++i) to[i] = uniform() * spread;
    });
  }

 private:
  uint64_t state_;
  const uint8_t* given_ = nullptr;
  size_t left_ = 0;
};

// An array of numbers of 8 or 16 bits: any of them.
template <class Array>
void fill_bytes(Array& array, Random& random) {
  auto* const bytes = reinterpret_cast<int8_t*>(&array);
  for (size_t i = 0; i < sizeof array; ++i) bytes[i] = int8_t(random.between(-128, 127));
}

}  // namespace attend_test
