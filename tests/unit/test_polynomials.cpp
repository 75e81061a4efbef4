// What the polynomials add to the error bound: their constants in tests/conformance/error_bound.h hold for every float.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "../support/tested.h"

#include "../conformance/definition.h"
#include "../conformance/error_bound.h"
#include "../support/rounds.h"

using namespace attend_test;

namespace {

// Calls with every so many-th float of a range.
template <class Call>
void for_floats(float least, float most, std::uint32_t step, Call call) {
  for (auto bits = attend::bits_to<std::uint32_t>(least); bits <= attend::bits_to<std::uint32_t>(most); bits += step) {
    call(attend::bits_to<float>(bits));
  }
}

float exp2_fraction(float f) {
  float g[1] = {f};
  attend::exp2_fraction<attend::Scalar, 1>(g);
  return g[0];
}

// ATTEND_EVERY_FLOAT=1 leaves none out.
std::uint32_t step_of(int usual) {
  return std::getenv("ATTEND_EVERY_FLOAT") != nullptr ? 1 : std::uint32_t(usual * 12 / rounds(12));
}

}  // namespace

// Below the ranges' ends the functions are linear, and their errors those of the last range.
TEST_CASE("the polynomial of 2^f is within 0.80 ulp, has the error bound's relative error, and is exact at 0") {
  double worst_ulps = 0.0, worst = 0.0;
  for_floats(0x1p-12f, 0.5f, step_of(7), [&](float magnitude) {
    for (const float f : {magnitude, -magnitude}) {
      const double exact = std::exp2(double(f)), error = std::fabs(double(exp2_fraction(f)) - exact);
      worst_ulps = std::max(worst_ulps, error / (exact < 1.0 ? 0x1p-24 : 0x1p-23));
      worst = std::max(worst, error / exact);
    }
  });
  MESSAGE("2^f: ", worst_ulps, " ulp, ", worst / unit_roundoff, " * 2^-24");
  CHECK(worst_ulps <= 0.80);
  CHECK(worst <= exp2_error * unit_roundoff);
  CHECK(exp2_fraction(0.0f) == 1.0f);
  for (const float f : {0.5f, -0.5f, 0.25f, 0x1.8p-20f, -0x1.234p-3f}) CHECK(exp2_fraction(f) == defined_exp2(f));
}

TEST_CASE("the polynomial of tanh has the error bound's relative error") {
  double worst = 0.0;
  for_floats(0x1p-12f, 32.0f, step_of(31), [&worst](float magnitude) {
    for (const float y : {magnitude, -magnitude}) {
      const double exact = std::tanh(double(y) * (0.5 * 0.69314718055994530942));
      worst = std::max(worst, std::fabs((double(attend::tanh_half<attend::Scalar>(y)) - exact) / exact));
    }
  });
  MESSAGE("tanh: ", worst / unit_roundoff, " * 2^-24");
  CHECK(worst <= tanh_error * unit_roundoff);
}

TEST_CASE("the polynomial of the logarithm has the error bound's absolute error") {
  double worst = 0.0, worst_base2 = 0.0, worst_with_twos = 0.0;  // of base 2 in natural units
  const double ln2 = std::log(2.0);
  for_floats(0x1.6a09e6p-1f, 0x1.6a09e6p0f, step_of(7), [&](float x) {
    const double exact = std::log2(double(x));
    worst = std::max(worst, std::fabs(double(attend::log_of(x, 0.0f, false)) - std::log(double(x))));
    worst_base2 = std::max(worst_base2, ln2 * std::fabs(double(attend::log_of(x, 0.0f, true)) - exact));
    const double with_twos = double(attend::log_of(x, 3.0f, true)), rounding = unit_roundoff * 2.0;  // below 4: 2^-23
    worst_with_twos = std::max(worst_with_twos, ln2 * (std::fabs(with_twos - (exact + 3.0)) - rounding));
  });
  MESSAGE("ln: ", worst / unit_roundoff, ", log2: ", worst_base2 / unit_roundoff, " * 2^-24");
  CHECK(worst_base2 <= log_error * unit_roundoff);
  CHECK(worst_with_twos <= log_error * unit_roundoff);
  // With a power of two, the sum with its smaller part is rounded too: half a last bit of at most ln(2) / 2.
  CHECK(worst + 0.35 * unit_roundoff <= log_error * unit_roundoff);
}

TEST_CASE("near_minus_reciprocal is within 0.501 ulp, near_quotient nearly rounded") {
  double worst = 0.0, worst_quotient = 0.0;
  for_floats(1.0f, 0x1.fffffep39f, step_of(301), [&](float b) {
    const double exact = 1.0 / double(b), ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::fabs(double(attend::near_minus_reciprocal<attend::Scalar>(-b)) - exact) / ulp);
    for (const float a : {1.0f, 0x1.fffffep-1f, 0x1.555556p-3f}) {
      const double quotient = double(a) / double(b), last = std::ldexp(1.0, std::ilogb(quotient) - 23);
      worst_quotient =
          std::max(worst_quotient, std::fabs(double(attend::near_quotient<attend::Scalar>(a, b)) - quotient) / last);
    }
  });
  MESSAGE("-1 / a: ", worst, " ulp, a / b: ", worst_quotient, " ulp");
  CHECK(worst <= 0.501);
  CHECK(worst_quotient <= 0.51);
}
