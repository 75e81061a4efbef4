// Arithmetic of floats with integers against the processor's own.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "../support/tested.h"

#include "../support/operands.h"
#include "../support/random.h"
#include "../support/rounds.h"

namespace {

using attend_test::bits_of;
using attend_test::draw;
using attend_test::float_of;
using attend_test::Numbers;
using attend_test::Random;
using attend_test::rounds;

// Up to the sign of a zero and what a NaN holds.
bool same(float a, float b) { return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b)) || (a == 0.0f && b == 0.0f); }

// Zeros, the least and largest of each kind, neighbours of 1, infinities, NaN.
constexpr std::uint32_t specials[] = {0x00000000u, 0x00000001u, 0x00000002u, 0x007fffffu, 0x00800000u, 0x00800001u, 0x00ffffffu,
                                      0x01000000u, 0x1f800000u, 0x20000000u, 0x33800000u, 0x34000000u, 0x3effffffu, 0x3f000000u,
                                      0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x40000000u, 0x4b000000u, 0x7e800000u, 0x7f000000u,
                                      0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u};
constexpr std::uint32_t signs[] = {0u, 0x80000000u};

}  // namespace

TEST_CASE("soft floats: multiply-add, addition and multiplication are the processor's") {
  Random random(1);
  int wrong = 0;
  for (int i = 0; i < rounds(3000000); ++i) {
    const Numbers n = draw(random, i % 8);
    if (!same(attend::soft_fma(n.a, n.b, n.c), std::fma(n.a, n.b, n.c))) ++wrong;
    if (!same(attend::soft_fma(n.a, 1.0f, n.c), n.a + n.c)) ++wrong;
    if (!same(attend::soft_fma(n.c, -1.0f, n.a), n.a - n.c)) ++wrong;
    if (!same(attend::soft_fma(n.a, n.b, 0.0f), n.a * n.b)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("soft floats: reciprocals, comparisons and whole numbers are the processor's") {
  Random random(2);
  int wrong = 0;
  for (int i = 0; i < rounds(3000000); ++i) {
    const Numbers n = draw(random, i % 8);
    if (!same(attend::soft_reciprocal(n.a), 1.0f / n.a)) ++wrong;
    if (attend::soft_less(n.a, n.c) != (n.a < n.c)) ++wrong;
    const float near_whole = std::ldexp(random.uniform(), random.between(-2, 31));
    if (attend::soft_truncated(near_whole) != int(near_whole)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("soft floats: special numbers in every combination") {
  for (const std::uint32_t a_size : specials) {
    for (const std::uint32_t b_size : specials) {
      for (const std::uint32_t sign : signs) {
        const float a = float_of(a_size), b = float_of(b_size | sign);
        for (const std::uint32_t c_size : specials) {
          for (const std::uint32_t c_sign : signs) {
            const float c = float_of(c_size | c_sign);
            CHECK(same(attend::soft_fma(a, b, c), std::fma(a, b, c)));
          }
        }
        CHECK(attend::soft_less(a, b) == (a < b));
        CHECK(attend::soft_less(b, a) == (b < a));
        CHECK(same(attend::soft_reciprocal(b), 1.0f / b));
      }
    }
  }
}

TEST_CASE("soft floats: a carry out of the highest digit leaves a trace of the lowest") {
  // 2 + 2^-23 + 2^-30: half way but for a bit that moves from one word to the next.
  CHECK(attend::soft_fma(257.0f, 0x1p-30f, 0x1.fffffep0f) == 0x1.000002p1f);
  CHECK(attend::soft_fma(256.0f, 0x1p-30f, 0x1.fffffep0f) == 2.0f);
  CHECK(attend::soft_fma(257.0f, -0x1p-30f, -0x1.fffffep0f) == -0x1.000002p1f);
}

TEST_CASE("soft floats: the products of a scale and a number of 4 bits are those of floats, one by one and in a table") {
  for (const float scale : {0.0f, -0.0f, 1.0f, -1.5f, 1.9990234f, 65504.0f, 0x1p-24f, INFINITY, NAN}) {  // of float16
    const attend::SoftScale soft(scale);
    float table[16];
    soft.fill(table);
    for (int n = -8; n < 8; ++n) {
      const float product = std::isfinite(scale) ? scale * float(n) : std::nanf("");
      CHECK(same(soft.times(n), product));
      CHECK(same(table[n + 8], product));
    }
  }
}
