// Inputs that every target and compiler makes alike: whole-number arithmetic, and floats that are exact.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace attend_test {

// A small counter-based generator (the output function is the finaliser of splitmix64: Steele, Lea and Flood, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}

  uint32_t bits() {
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

  void fill(float* to, size_t count, float spread = 1.0f) {
    for (size_t i = 0; i < count; ++i) to[i] = uniform() * spread;
  }

 private:
  uint64_t state_;
};

}  // namespace attend_test
