// Integer projections beside their definition in 64-bit integers, at the ends of their ranges and for every output format.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../conformance/integer_projection.h"

using namespace attend_test;
using attend::core::IntegerLinear, attend::core::IntegerMultiplier, attend::core::integer_multiplier;

TEST_CASE("integer projections: their definition, for all output formats") {
  Random random(5);
  for (const ProjectionShape& of : projection_shapes) {
    CAPTURE(of.inputs);
    std::vector<char> memory(projection_bytes(of));  // no byte more, which sanitizers would not see read
    CHECK(is_projected(of, random, memory.data()));
  }
}

TEST_CASE("integer projections: 65,536 inputs of the largest size do not overflow") {
  constexpr int inputs = attend::core::integer_linear_inputs;
  const std::vector<std::int8_t> input(inputs, std::int8_t(-128));
  std::vector<std::int8_t> weights(2 * std::size_t(inputs), std::int8_t(-128));
  for (std::size_t i = 0; i < std::size_t(inputs); ++i) weights[std::size_t(inputs) + i] = 127;
  const std::int32_t bias[] = {(1 << 23) - 1, -(1 << 23) + 1};
  const IntegerMultiplier multiplier = integer_multiplier(1e-5);
  std::int32_t output[2];
  IntegerLinear linear{};
  linear.input = input.data(), linear.weights = weights.data(), linear.output = output;
  linear.bias = bias, linear.multipliers = &multiplier;
  linear.weight_stride = inputs, linear.output_stride = 2;
  linear.inputs = inputs, linear.outputs = 2, linear.tokens = 1;
  linear.input_zero = 127;
  CHECK(is_projected<std::int8_t>(linear));
  CHECK(is_projected<std::int16_t>(linear));
  CHECK(is_projected<std::int32_t>(linear));
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
    attend::core::run_integer_linear<1>(linear);
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
