// Numbers that operations are tried with, and when two results are the same.
#pragma once

#include <stdint.h>

#include "../support/tested.h"

namespace {

constexpr float test_infinity = __builtin_inff(), test_nan = __builtin_nanf("");
constexpr float whole = 0x1.8p23f;  // added to a whole number, leaves that in the low bits

// Every pair of these comes to each lane. No subnormal numbers: some targets flush them.
constexpr float test_numbers[] = {0.0f,     -0.0f, 1.0f,   -1.0f,     0x1.001p0f,    -0x1.fffffep3f, 0.7f,
                                  -32.0f,   1e30f, -1e30f, 0x1p-126f, test_infinity, -3.0f,          test_nan,
                                  65504.0f, -0.3f, 127.5f, 2.0f,      -0x1.000002p0f};
constexpr int test_count = int(sizeof test_numbers / sizeof test_numbers[0]);

// Zeros of either sign are the same, and so are all NaNs.
inline bool are_same(float a, float b) {
  return attend::bits_to<uint32_t>(a) == attend::bits_to<uint32_t>(b) || (a != a && b != b) || (a == 0 && b == 0);
}

// These numbers in the lanes of vectors.
template <class Isa>
struct LaneNumbers {
  static float number(int i) { return test_numbers[i % test_count]; }

  template <class Expected>
  static bool is(typename Isa::Vec got, Expected expected) {
    float lane[Isa::lanes];
    Isa::store(lane, got);
    for (int i = 0; i < Isa::lanes; ++i) {
      if (!are_same(lane[i], expected(i))) return false;
    }
    return true;
  }

  static typename Isa::Vec numbers_from(int first) {
    float lane[Isa::lanes];
    for (int i = 0; i < Isa::lanes; ++i) lane[i] = number(first + i);
    return Isa::load(lane);
  }
};

}  // namespace
