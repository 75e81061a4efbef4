// Slopes of ALiBi, each the float nearest to a power of two with a fractional exponent, on every target.
#include <doctest/doctest.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../conformance/hash.h"
#include "attend/attend.h"
#include "attend/attend_c.h"

TEST_CASE("alibi slopes: of 8 heads and of 12") {
  float eight[8], twelve[12];
  attend::alibi_slopes(eight);
  attend::alibi_slopes(twelve);
  for (int head = 0; head < 8; ++head) {
    CHECK(eight[head] == std::ldexp(1.0f, -1 - head));
    CHECK(twelve[head] == eight[head]);
  }
  for (int head = 8; head < 12; ++head) CHECK(twelve[head] == float(std::exp2(-0.5 - (head - 8))));
  float in_c[12] = {};
  CHECK(attend_alibi_slopes(12, in_c) == ATTEND_OK);
  CHECK(std::memcmp(in_c, twelve, sizeof in_c) == 0);
}

TEST_CASE("alibi slopes: of any number of heads, correctly rounded, with the same bits everywhere") {
  static float slopes[65536], by_themselves[3];
  attend::alibi_slopes(by_themselves);
  CHECK(by_themselves[0] == 0.0625f);
  CHECK(by_themselves[1] == 0.00390625f);
  CHECK(by_themselves[2] == 0.25f);
  std::uint64_t hash = attend_test::hash_begin;
  for (int whole = 1; whole <= 65536; whole *= 2) {
    const int heads = whole < 65536 ? 2 * whole - 1 : whole;  // all that this power of two has
    attend::core::alibi_slopes(heads, slopes);
    int wrong = 0;
    for (int head = 0; head < heads; ++head) {
      const long double base = 8.0L / whole;
      const long double exact = std::exp2(-(head < whole ? base * (head + 1) : base / 2 * (2 * (head - whole) + 1)));
      const long double half_unit = std::ldexp(1.0L, std::ilogb(slopes[head]) - 24);
      const bool nearest = LDBL_MANT_DIG > DBL_MANT_DIG ? slopes[head] == float(exact)
                                                        : std::fabs(slopes[head] - exact) <= half_unit * (1 + 1e-6L);
      wrong += !nearest;
    }
    hash = attend_test::hash_floats(hash, slopes, std::size_t(heads));
    CHECK(wrong == 0);
  }
  CHECK(hash == 10085208007201703167u);
}
