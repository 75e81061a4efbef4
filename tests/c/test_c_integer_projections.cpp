// Projections in integers from C beside their definition in 64-bit integers, of rows and of packed weights, on every backend.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../conformance/integer_projection.h"
#include "../support/rounds.h"
#include "attend/backend.h"
#include "attend/c/layers.h"
#include "c_run.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

template <class Output>
void check_projection(const core::IntegerLinear& of, attend_integer_linear linear) {
  std::vector<Output> expected(std::size_t(of.tokens) * std::size_t(of.outputs)), y(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = Output(projected<Output>(of, int(i) / of.outputs, int(i) % of.outputs));
  const std::size_t bytes = attend_packed_size(&linear.weights);
  REQUIRE(bytes == core::packed_integer_weight_bytes(of.outputs, of.inputs));
  Aligned memory(bytes);
  const std::string before = attend::active_backend();
  for (const bool packed : {false, true}) {
    if (packed) REQUIRE(attend_pack_weights(&linear.weights, memory.data(), bytes, &linear.weights) == ATTEND_OK);
    for (int i = 0; i < attend::backend_count(); ++i) {
      if (!attend::use_backend(attend::backend_name(i))) continue;
      INFO(attend::backend_name(i), packed ? ", packed, " : ", rows, ", of.inputs, " inputs, ", of.outputs, " outputs");
      std::memset(y.data(), 0x55, y.size() * sizeof(Output));
      REQUIRE(attend_integer_project(&linear, of.input, of.tokens, y.data()) == ATTEND_OK);
      REQUIRE(y == expected);
    }
  }
  REQUIRE(attend::use_backend(before.c_str()));
}

}  // namespace

TEST_CASE("c integer projections: random ones are what their definition says") {
  Random random(91);
  for (int round = 0; round < rounds(2000); ++round) {
    ProjectionShape of{};
    of.inputs = random.between(1, 130), of.outputs = random.between(1, 70), of.tokens = random.between(1, 9);
    of.input_zero = random.between(0, 2) == 0 ? 0 : random.between(-128, 127);
    of.output_zero = random.between(-128, 127);
    of.bias = random.between(0, 1) == 1, of.one_multiplier = random.between(0, 1) == 1;
    std::vector<char> memory(projection_bytes(of));
    core::IntegerLinear core_linear = random_projection(of, random, memory.data());
    core_linear.input_stride = core_linear.weight_stride = of.inputs;
    const auto* const multipliers = reinterpret_cast<const attend_integer_multiplier*>(core_linear.multipliers);
    attend_integer_linear linear = {};
    linear.weights.data = core_linear.weights, linear.weights.outputs = of.outputs, linear.weights.inputs = of.inputs;
    linear.weights.format = ATTEND_INT8, linear.weights.layout = ATTEND_INTEGER_ROWS;
    linear.multipliers = multipliers, linear.multiplier_count = of.one_multiplier ? 1 : of.outputs;
    linear.bias = core_linear.bias;
    linear.input_zero_point = of.input_zero, linear.output_zero_point = of.output_zero;
    linear.output_format = round % 2 == 0 ? ATTEND_INT8 : ATTEND_INT16;
    round % 2 == 0 ? check_projection<std::int8_t>(core_linear, linear) : check_projection<std::int16_t>(core_linear, linear);
  }
}

TEST_CASE("c integer projections: multipliers of numbers are those of the core") {
  Random random(92);
  const auto check = [](double number) {
    const attend_integer_multiplier by = attend_integer_multiplier_of(number);
    const core::IntegerMultiplier expected = core::integer_multiplier(number);
    REQUIRE(core::is_integer_multiplier(number));
    REQUIRE(by.factor == expected.factor);
    REQUIRE(by.shift == expected.shift);
  };
  for (int round = 0; round < rounds(20000); ++round) {
    const std::uint64_t digits = std::uint64_t(random.bits() >> 8) << 28 ^ random.bits();
    check(std::ldexp(1 + double(digits & ((std::uint64_t(1) << 52) - 1)) / 0x1p52, random.between(-32, 28)));
  }
  for (int power = -32; power < 29; ++power) {
    check(std::ldexp(1, power));
    check(std::ldexp(1 - 0x1p-53, power + 1));
    check(std::ldexp(1 + 0x1p-31, power));
  }
}
