// Every backend's residual addition in integers gives what the definition says, for all types, at the ends of all ranges, in
// place too, and touches no byte beside its arrays.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../../src/layers/list.h"
#include "../support/random.h"
#include "../support/rounds.h"
#include "attend/integer.h"
#include "integer_sum.h"
#include "replaced_integer_layers.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

using Run = void (*)(const core::IntegerSum&);

template <class Number>
void fill(std::vector<Number>& numbers, Random& random) {
  using Ends = std::numeric_limits<Number>;
  const bool ends = random.between(0, 3) == 0;
  for (Number& number : numbers) {
    number = ends ? (random.between(0, 1) == 0 ? Ends::min() : Ends::max()) : Number(random.between(Ends::min(), Ends::max()));
  }
}

core::IntegerSum random_sum(Random& random, int lowest) {
  core::IntegerSum sum{};
  const int largest = (1 << 21) - 1;
  const auto factor = [&] { return random.between(0, 2) == 0 ? largest : random.between(1 << 20, largest); };
  const auto zero = [&] {
    return random.between(0, 2) == 0 ? (random.between(0, 1) == 0 ? -128 : 127) : random.between(-128, 127);
  };
  sum.by = {factor(), random.between(0, 1) == 0 ? factor() : random.between(0, largest), random.between(8, 30)};
  if (random.between(0, 1) == 1) sum.by = {sum.by.b, sum.by.a, sum.by.shift};
  sum.a_zero = zero(), sum.b_zero = zero(), sum.zero = zero();
  sum.lowest = random.between(0, 2) == 0 ? sum.zero : lowest;
  return sum;
}

template <class Output>
void check(const std::string& name, core::IntegerSum sum, Run run, const std::vector<Output>& expected) {
  INFO(name, ", ", sum.count, " numbers, factors ", sum.by.a, " ", sum.by.b, ", shift ", sum.by.shift);
  constexpr Output untouched = 77;
  std::vector<Output> output(expected.size() + 8, untouched);
  sum.output = output.data() + 4;
  run(sum);
  REQUIRE(std::equal(expected.begin(), expected.end(), output.begin() + 4));
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(output[i] == untouched);
    REQUIRE(output[output.size() - 1 - i] == untouched);
  }
}

template <class A, class B, class Output, class Backend>
void run_with(const core::IntegerSum& sum) {
  Backend::run_integer_sum(sum, int(4 * sizeof(A) + 2 * sizeof(B) + sizeof(Output) - 7));
}

template <class A, class B, class Output>
void check_all(Random& random) {
  std::vector<A> a(std::size_t(random.between(0, 100)));
  std::vector<B> b(a.size());
  std::vector<Output> expected(a.size());
  fill(a, random), fill(b, random);
  core::IntegerSum sum = random_sum(random, std::numeric_limits<Output>::min());
  sum.a = a.data(), sum.b = b.data(), sum.count = int(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) expected[i] = Output(added(sum, a[i], b[i], int(sizeof(Output))));
  const std::string before = attend::active_backend();
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::use_backend(attend::backend_name(i))) continue;
    check<Output>(attend::backend_name(i), sum, core::run_integer_sum<A, B, Output>, expected);
    for_each_replaced_layers(
        [&](const char* name, auto backend) { check<Output>(name, sum, run_with<A, B, Output, decltype(backend)>, expected); });
  }
  REQUIRE(attend::use_backend(before.c_str()));
  std::vector<Output> own(a.begin(), a.end());
  if (sizeof(A) == sizeof(Output)) {
    sum.a = sum.output = own.data();
    core::run_integer_sum<A, B, Output>(sum);
    REQUIRE(own == expected);
  }
}

}  // namespace

TEST_CASE("integer sums: every backend has the bits of the definition, for all types") {
  Random random(61);
  for (int round = 0; round < rounds(1000); ++round) {
    check_all<std::int8_t, std::int8_t, std::int8_t>(random);
    check_all<std::int8_t, std::int8_t, std::int16_t>(random);
    check_all<std::int8_t, std::int16_t, std::int8_t>(random);
    check_all<std::int8_t, std::int16_t, std::int16_t>(random);
    check_all<std::int16_t, std::int8_t, std::int8_t>(random);
    check_all<std::int16_t, std::int8_t, std::int16_t>(random);
    check_all<std::int16_t, std::int16_t, std::int8_t>(random);
    check_all<std::int16_t, std::int16_t, std::int16_t>(random);
  }
}

TEST_CASE("integer sums: what boards compute is right here") {
  Random random(63);
  CHECK(are_added(random));
}

TEST_CASE("integer sums: factors are multipliers of 21 bits with a shift that both have") {
  Random random(62);
  const auto number = [&] {
    return std::ldexp(1 + double(random.bits() >> 1) / 0x1p31 * (random.between(0, 3) == 0 ? 0x1p-28 : 1),
                      random.between(-32, 12));
  };
  for (int round = 0; round < rounds(20000); ++round) {
    core::IntegerMultiplier a = core::integer_multiplier(number()), b = core::integer_multiplier(number());
    if (round % 7 == 0) b = {0, 62};
    if (round % 5 == 0) a.factor = 0x7fffffff - random.between(0, 1024);
    const core::IntegerSumFactors by = core::integer_sum_factors(a, b);
    const int larger = by.a > by.b ? by.a : by.b;
    REQUIRE(larger >= 1 << 20);
    REQUIRE(larger < 1 << 21);
    const auto exact = [&](const core::IntegerMultiplier& of) {  // doubles hold 31 bits and half of one
      return int(std::floor(std::ldexp(double(of.factor), by.shift - of.shift) + 0.5));
    };
    REQUIRE(by.a == exact(a));
    REQUIRE(by.b == exact(b));
  }
}
