// 1 / sqrt(a) by Newton's iteration.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "../support/tested.h"

#include "../conformance/layer_definition.h"
#include "../support/rounds.h"

using attend::bits_to, attend::reciprocal_root;

namespace {

double error_in_ulps(float a) {
  const double exact = 1.0 / std::sqrt(double(a));
  return std::fabs(double(reciprocal_root(a)) - exact) / std::ldexp(1.0, std::ilogb(exact) - 23);
}

}  // namespace

TEST_CASE("the reciprocal root is within 0.5001 units in the last place, and its own definition") {
  double worst = 0.0;
  const std::uint32_t step =
      std::getenv("ATTEND_EVERY_FLOAT") != nullptr ? 1 : std::uint32_t(12 * 19 / attend_test::rounds(12));
  // All digits there are: two binades.
  for (std::uint32_t bits = 0x3f800000u; bits < 0x40800000u; bits += step) {
    worst = std::max(worst, error_in_ulps(bits_to<float>(bits)));
  }
  MESSAGE("1 / sqrt: ", worst, " ulp");
  CHECK(worst <= 0.5001);
  // All exponents.
  for (std::uint32_t bits = 0x00800000u; bits < 0x7f800000u; bits += 0x3b9aca) {
    CHECK(error_in_ulps(bits_to<float>(bits)) <= 0.5001);
    CHECK(reciprocal_root(bits_to<float>(bits)) == attend_test::defined_reciprocal_root(bits_to<float>(bits)));
  }
  CHECK(reciprocal_root(std::numeric_limits<float>::infinity()) == 0.0f);
  CHECK(std::isnan(reciprocal_root(std::numeric_limits<float>::quiet_NaN())));
  CHECK(reciprocal_root(0x1p-126f) == 0x1p63f);
}
