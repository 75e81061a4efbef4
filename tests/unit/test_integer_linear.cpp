// Integer projections beside their definition in 64-bit integers, at the ends of their ranges and for every output format.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "../support/random.h"
#include "attend/core_integer_linear.h"

using namespace attend_test;
using attend::core::IntegerLinear, attend::core::IntegerMultiplier, attend::core::integer_multiplier;

namespace {

struct Case {
  int inputs, outputs, tokens, input_zero, output_zero;
  bool bias, one_multiplier;
};

struct Numbers {
  std::vector<std::int8_t> input, weights;
  std::vector<std::int32_t> bias;
  std::vector<IntegerMultiplier> multipliers;
};

constexpr int gap = 3;  // between rows, which strides leave out

Numbers random_numbers(const Case& of, Random& random) {
  Numbers numbers;
  const auto fill = [&](std::vector<std::int8_t>& bytes, int rows) {
    bytes.resize(std::size_t(rows * (of.inputs + gap)));
    for (std::int8_t& byte : bytes) byte = std::int8_t(random.between(-128, 127));
  };
  fill(numbers.input, of.tokens);
  fill(numbers.weights, of.outputs);
  for (int o = 0; o < of.outputs; ++o) {
    numbers.bias.push_back(random.between(-30000, 30000));
    numbers.multipliers.push_back(integer_multiplier((1 + double(random.between(0, 999))) / 1e5));
  }
  return numbers;
}

// The nearest whole number to sum * factor / 2^shift, ties up, by division and remainder.
std::int64_t nearest(std::int64_t sum, const IntegerMultiplier& by) {
  const std::int64_t product = sum * by.factor, divisor = std::int64_t(1) << by.shift;
  std::int64_t whole = product / divisor, rest = product % divisor;
  if (rest < 0) rest += divisor, --whole;
  return whole + (rest >= divisor / 2);
}

template <class Output>
void check(const Case& of, const Numbers& numbers) {
  constexpr bool sums_only = sizeof(Output) == 4;
  const int stride = of.inputs + gap, output_stride = of.outputs + gap;
  std::vector<Output> found(std::size_t(of.tokens * output_stride), Output(77));
  IntegerLinear linear{};
  linear.input = numbers.input.data(), linear.weights = numbers.weights.data(), linear.output = found.data();
  linear.bias = of.bias ? numbers.bias.data() : nullptr;
  linear.multipliers = sums_only ? nullptr : numbers.multipliers.data();
  linear.multiplier_stride = of.one_multiplier ? 0 : 1;
  linear.input_stride = linear.weight_stride = stride, linear.output_stride = output_stride;
  linear.inputs = of.inputs, linear.outputs = of.outputs, linear.tokens = of.tokens;
  linear.input_zero = of.input_zero, linear.output_zero = of.output_zero;
  attend::core::run_integer_linear<Output>(linear);
  for (int t = 0; t < of.tokens; ++t) {
    for (int o = 0; o < output_stride; ++o) {
      std::int64_t expected = 77;
      if (o < of.outputs) {
        expected = of.bias ? numbers.bias[std::size_t(o)] : 0;
        for (int i = 0; i < of.inputs; ++i) {
          expected +=
              numbers.weights[std::size_t(o * stride + i)] * (numbers.input[std::size_t(t * stride + i)] - of.input_zero);
        }
        if (!sums_only) {
          expected = nearest(expected, numbers.multipliers[std::size_t(of.one_multiplier ? 0 : o)]) + of.output_zero;
          expected = std::max<std::int64_t>(expected, std::numeric_limits<Output>::min());
          expected = std::min<std::int64_t>(expected, std::numeric_limits<Output>::max());
        }
      }
      REQUIRE(found[std::size_t(t * output_stride + o)] == expected);
    }
  }
}

}  // namespace

TEST_CASE("integer projections: their definition, for all output formats") {
  Random random(5);
  const Case cases[] = {
      {0, 3, 2, 0, 5, true, false},     {1, 1, 1, -128, 0, false, false}, {3, 2, 2, 127, -7, true, true},
      {4, 5, 1, 0, 127, false, false},  {16, 8, 3, 1, -128, true, false}, {63, 7, 2, -3, 11, true, false},
      {160, 64, 1, 0, 0, false, false}, {257, 3, 4, 100, 1, false, true}, {1024, 2, 1, -128, 0, true, false},
  };
  for (const Case& of : cases) {
    CAPTURE(of.inputs);
    const Numbers numbers = random_numbers(of, random);
    check<std::int8_t>(of, numbers);
    check<std::int16_t>(of, numbers);
    check<std::int32_t>(of, numbers);
  }
}

TEST_CASE("integer projections: 65,536 inputs of the largest size do not overflow") {
  const Case of{attend::core::integer_linear_inputs, 2, 1, 127, 0, true, true};
  Numbers numbers;
  numbers.input.assign(std::size_t(of.inputs + gap), -128);
  numbers.weights.assign(std::size_t(2 * (of.inputs + gap)), -128);
  for (int i = 0; i < of.inputs; ++i) numbers.weights[std::size_t(of.inputs + gap + i)] = 127;
  numbers.bias = {(1 << 23) - 1, -(1 << 23) + 1};
  numbers.multipliers = {integer_multiplier(1e-5)};
  check<std::int8_t>(of, numbers);
  check<std::int16_t>(of, numbers);
  check<std::int32_t>(of, numbers);
}

TEST_CASE("integer projections: multipliers are exact to 31 bits, halves are rounded up, and results are clamped") {
  for (const double number : {0x1p-32, 1e-9, 0.001, 0.5, 0.7, 1.0, 3.14159, 65536.0, 0x1.fffp28}) {
    CAPTURE(number);
    REQUIRE(attend::core::is_integer_multiplier(number));
    const IntegerMultiplier by = integer_multiplier(number);
    double stands_for = by.factor;
    for (int i = 0; i < by.shift; ++i) stands_for /= 2;
    CHECK(stands_for == doctest::Approx(number).epsilon(0x1p-31));
    CHECK(by.factor >= 1 << 30);
    CHECK(by.shift >= 1);
    CHECK(by.shift <= 62);
  }
  for (const double number : {0.0, -1.0, 0x1p29, 0x1p-33}) CHECK_FALSE(attend::core::is_integer_multiplier(number));
  static_assert(integer_multiplier(0.5).factor == 1 << 30 && integer_multiplier(0.5).shift == 31);

  const std::int8_t one = 1;
  const auto output_of = [&one](std::int32_t sum, double number, int zero) {
    const IntegerMultiplier by = integer_multiplier(number);
    std::int8_t output = 0;
    IntegerLinear linear{};
    linear.input = &one, linear.weights = &one, linear.output = &output, linear.bias = &sum, linear.multipliers = &by;
    linear.outputs = linear.tokens = 1;  // and no inputs: the bias alone
    linear.output_zero = zero;
    attend::core::run_integer_linear<std::int8_t>(linear);
    return int(output);
  };
  CHECK(output_of(5, 0.5, 0) == 3);
  CHECK(output_of(-5, 0.5, 0) == -2);
  CHECK(output_of(-7, 0.5, 10) == 7);
  CHECK(output_of(2147483647, 0x1p28, 0) == 127);
  CHECK(output_of(-2147483647, 0x1p28, 0) == -128);
  CHECK(output_of(2147483647, 0x1p-32, 3) == 3);
  CHECK(output_of(1000, 0, -9) == -9);
}
