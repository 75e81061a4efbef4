// The definition of the options against the float64 oracle: that what every backend must equal bit for bit is attention.
#include <doctest/doctest.h>

#include "../support/rounds.h"
#include "option_random.h"
#include "oracle.h"

using namespace attend_test;

TEST_CASE("the definition of options is within the error bound of the oracle") {
  for (const int number : each_round(1500)) {
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
        const double error = definition_error(instance.row(t, h));
        if (!(error <= worst)) worst = error;
      }
    }
    CHECK(worst <= 1.0);
  }
}
