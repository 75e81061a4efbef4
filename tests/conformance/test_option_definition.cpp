// The definition of the options against the float64 oracle: that what every backend must equal bit for bit is attention.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../support/rounds.h"
#include "option_oracle.h"
#include "option_random.h"

using namespace attend_test;

namespace {

// The largest error of a row, as a part of what it may be.
double worst_error(const OptionRow& row) {
  const DefinedRow found = defined_option_row(row);
  const OracleRow expected = oracle_option_row(row);
  const Roundings count = roundings_of(row);
  const double bound = output_bound(count, expected.score_size);
  double worst = 0.0;
  const auto compare = [&worst](double a, double b, double most) {
    if (a == b) return;
    const double error = std::fabs(a - b) / most;
    if (!(error <= worst)) worst = error;
  };
  for (std::size_t c = 0; c < found.output.size(); ++c) {
    compare(double(found.output[c]), expected.output[c], bound * expected.largest_value);
  }
  for (std::size_t j = 0; j < found.weights.size(); ++j) {
    compare(double(found.weights[j]), expected.weights[j], bound);
    compare(double(found.biased[j]), expected.biased[j], score_bound(count, expected.score_size));
    if (!row.keys[j].seen && found.weights[j] != 0.0f) worst = std::numeric_limits<double>::infinity();
  }
  compare(found.lse, expected.lse, lse_bound(count, expected.score_size, expected.lse));
  return worst;
}

}  // namespace

TEST_CASE("the definition of options is within the error bound of the oracle") {
  for (int number = 0; number < rounds(1500); ++number) {
    Random random(std::uint64_t(number) + 50);
    unsigned wishes = random.bits() % (1u << wish_count);
    if (number % 2 == 0) wishes &= random.bits();
    if (number < 2 * wish_count) wishes = 1u << number / 2;
    const RandomInstance instance(std::uint64_t(number), wishes);
    const std::string text = instance.text();
    INFO(number, text);
    double worst = 0.0;
    for (int t = 0; t < instance.s.queries; ++t) {
      for (int h = 0; h < instance.s.query_heads; ++h) {
        const OptionRow row = instance.row(t, h);
        const double error = worst_error(row);
        if (!(error <= worst)) worst = error;
      }
    }
    CHECK(worst <= 1.0);
  }
}
