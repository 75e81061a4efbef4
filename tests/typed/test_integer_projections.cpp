// Projections in integers by the C++ surface, beside their definition in 64-bit integers; what is refused; and from token
// vectors to what follows attention without a float.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "../support/random.h"
#include "attend/layers.h"

using namespace attend_test;
using attend::Status;

namespace {

template <int outputs, int inputs>
attend::Weights<outputs, inputs, attend::integer> random_weights(Random& random, int largest_bias = (1 << 23) - 1) {
  attend::Weights<outputs, inputs, attend::integer> weights;
  fill_bytes(weights.data, random);
  for (std::int32_t& bias : weights.bias) bias = random.between(-largest_bias, largest_bias);
  return weights;
}

// round(sum * factor), ties up, by long doubles that hold both exactly.
template <int outputs, int inputs>
int exact(const std::int8_t* x, const attend::Weights<outputs, inputs, attend::integer>& weights, int o, int input_zero,
          const attend::core::IntegerMultiplier& by, int output_zero, int most) {
  std::int64_t sum = weights.bias[o];
  for (int i = 0; i < inputs; ++i) sum += std::int64_t(weights.data[o][i]) * (x[i] - input_zero);
  const std::int64_t product = sum * by.factor, divisor = std::int64_t(1) << by.shift;
  const std::int64_t whole =
      (product + divisor / 2 - ((product + divisor / 2) % divisor + divisor) % divisor) / divisor + output_zero;
  return int(whole > most ? most : whole < -most - 1 ? -most - 1 : whole);
}

struct Shape {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 3, kv_heads = 1, head_dim = 8, value_dim = 5;
};

}  // namespace

TEST_CASE("integer projections of the C++ surface: their definition") {
  Random random(3);
  attend::Vectors<4, 37, std::int8_t> x;
  attend::Vectors<4, 19, std::int8_t> y;
  attend::Vectors<4, 19, std::int16_t> wide;
  fill_bytes(x, random);
  const auto weights = random_weights<19, 37>(random);
  double steps[19];
  for (int o = 0; o < 19; ++o) steps[o] = 1e-4 * (o + 1);
  const attend::ProjectionScales<19> scales({0.5, -7}, steps, {0.25, 11});
  REQUIRE(attend::project(x, weights, scales, y) == Status::ok);
  REQUIRE(attend::project(x, weights, scales, wide) == Status::ok);
  for (int t = 0; t < 4; ++t) {
    for (int o = 0; o < 19; ++o) {
      CHECK(y[t][o] == exact(x[t], weights, o, -7, scales.multipliers()[o], 11, 127));
      CHECK(wide[t][o] == exact(x[t], weights, o, -7, scales.multipliers()[o], 11, 32767));
    }
  }
  constexpr attend::ProjectionScales<> one({0.5, 3}, 1e-4, 0.25);
  static_assert(one.status() == Status::ok);
  REQUIRE(attend::project(x, weights, one, y) == Status::ok);
  for (int o = 0; o < 19; ++o) CHECK(y[3][o] == exact(x[3], weights, o, 3, one.multipliers()[0], 0, 127));
}

TEST_CASE("integer projections of the C++ surface: packed weights, by the compiler or the program, give the same numbers") {
  static constexpr attend::Weights<2, 5, attend::integer> few = {{{1, -2, 3, -128, 127}, {5, 6, 7, 8, 9}}, {100, -7}};
  static constexpr attend::PackedWeights<2, 5, attend::integer> constant = attend::pack(few);
  static attend::PackedWeights<2, 5, attend::integer> packed;
  attend::pack(few, packed);
  CHECK(std::memcmp(&constant, &packed, sizeof packed) == 0);
  constexpr attend::ProjectionScales<> one(1, 1, {1, 3});
  const attend::Vectors<1, 5, std::int8_t> x = {{{1, 1, 1, 1, 0}}};
  attend::Vectors<1, 2, std::int16_t> y;
  REQUIRE(attend::project(x, constant, one, y) == Status::ok);
  CHECK(y[0][0] == 1 - 2 + 3 - 128 + 100 + 3);
  CHECK(y[0][1] == 5 + 6 + 7 + 8 - 7 + 3);

  Random random(6);
  static attend::Vectors<9, 130, std::int8_t> tokens;
  static attend::Vectors<9, 67, std::int8_t> by_rows, by_panels;
  fill_bytes(tokens, random);
  const auto weights = random_weights<67, 130>(random);
  static attend::PackedWeights<67, 130, attend::integer> many;
  attend::pack(weights, many);
  const attend::ProjectionScales<> scales({0.5, -128}, 1e-5, {0.25, 11});
  REQUIRE(attend::project(tokens, weights, scales, by_rows) == Status::ok);
  REQUIRE(attend::project(tokens, many, scales, by_panels) == Status::ok);
  CHECK(std::memcmp(&by_rows, &by_panels, sizeof by_rows) == 0);
  many.bias[66] = 2147483647 - 32640 * 130 + 1;
  CHECK(attend::project(tokens, many, scales, by_panels) == Status::bad_quantisation);
}

TEST_CASE("integer projections of the C++ surface: token vectors become queries, keys and values, and outputs vectors") {
  Random random(4);
  static attend::Vectors<6, 32, std::int8_t> x, y;
  static attend::Query<Shape, 6> query;
  static attend::Key<Shape, 6> key;
  static attend::Value<Shape, 6> value;
  static attend::Output<Shape, 6> output;
  static attend::Workspace<Shape, 6, 6> work;
  fill_bytes(x, random);
  constexpr attend::ProjectionScales<> scales(0.02, 0.01, 0.08);
  auto to_query = random_weights<24, 32>(random, 20000);
  auto to_key = random_weights<8, 32>(random, 20000);
  auto to_value = random_weights<5, 32>(random, 20000);
  auto from_output = random_weights<32, 15>(random, 20000);
  CHECK(attend::project(x, to_query, scales, query) == Status::ok);
  CHECK(attend::project(x, to_key, scales, key) == Status::ok);
  CHECK(attend::project(x, to_value, scales, value) == Status::ok);
  REQUIRE(attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(0.08, 0.08, 0.08, 0.04),
                            attend::causal()) == Status::ok);
  REQUIRE(attend::project(output, from_output, scales, y) == Status::ok);
  for (int t = 0; t < 6; ++t) {
    for (int o = 0; o < 24; ++o) CHECK(query[t][o / 8][o % 8] == exact(x[t], to_query, o, 0, scales.multipliers()[0], 0, 127));
    for (int o = 0; o < 32; ++o) CHECK(y[t][o] == exact(output[t][0], from_output, o, 0, scales.multipliers()[0], 0, 127));
  }
}

TEST_CASE("integer projections of the C++ surface: as many inputs as there may be, at both ends of the sums") {
  constexpr int inputs = attend::core::integer_linear_inputs;
  static attend::Vectors<1, inputs, std::int8_t> x;
  static attend::Weights<2, inputs, attend::integer> weights;
  attend::Vectors<1, 2, std::int16_t> y;
  std::memset(&x, 0x80, sizeof x);
  std::memset(weights.data[0], 0x80, sizeof weights.data[0]);  // -128
  std::memset(weights.data[1], 0x7f, sizeof weights.data[1]);
  weights.bias[0] = (1 << 23) - 1;
  weights.bias[1] = -(1 << 23);
  constexpr attend::ProjectionScales<> scales({1, 127}, 1e-5, 1);
  REQUIRE(attend::project(x, weights, scales, y) == Status::ok);
  for (int o = 0; o < 2; ++o) CHECK(y[0][o] == exact(x[0], weights, o, 127, scales.multipliers()[0], 0, 32767));
  CHECK(y[0][0] == 21475);  // 2^31 - 1 hundred-thousandths
}

TEST_CASE("integer projections of the C++ surface: some of an array's tokens, and the rows behind them stay as they are") {
  Random random(8);
  constexpr int tokens = 5;
  attend::Vectors<tokens, 37, std::int8_t> x;
  attend::Vectors<tokens, 19, std::int8_t> all, guard, y;
  attend::Vectors<tokens, 19, std::int16_t> all_wide, guard_wide, wide;
  fill_bytes(x, random), fill_bytes(guard, random), fill_bytes(guard_wide, random);
  const auto weights = random_weights<19, 37>(random, 1000);
  attend::PackedWeights<19, 37, attend::integer> packed;
  attend::pack(weights, packed);
  const attend::ProjectionScales<> scales({0.5, -7}, 1e-3, {0.25, 11});
  REQUIRE(attend::project(x, weights, scales, all) == Status::ok);
  REQUIRE(attend::project(x, weights, scales, all_wide) == Status::ok);
  for (int count = 0; count <= tokens; ++count) {
    CAPTURE(count);
    y = guard, wide = guard_wide;
    CHECK(attend::project(x, weights, scales, y, count) == Status::ok);
    CHECK(attend::project(x, packed, scales, wide, count) == Status::ok);
    for (int t = 0; t < tokens; ++t) {
      CHECK(std::memcmp(y[t], t < count ? all[t] : guard[t], sizeof y[t]) == 0);
      CHECK(std::memcmp(wide[t], t < count ? all_wide[t] : guard_wide[t], sizeof wide[t]) == 0);
    }
  }
  y = guard;
  for (const int count : {-1, tokens + 1, 2147483647}) {
    CHECK(attend::project(x, weights, scales, y, count) == Status::bad_count);
    CHECK(std::memcmp(&y, &guard, sizeof y) == 0);
  }
}

TEST_CASE("integer projections of the C++ surface: the largest biases, as channels of tiny scales have them") {
  Random random(9);
  attend::Vectors<3, 8, std::int8_t> x;
  attend::Vectors<3, 8, std::int16_t> y;
  fill_bytes(x, random);
  auto weights = random_weights<8, 8>(random);
  constexpr std::int32_t most = 2147483647 - 32640 * 8;
  static_assert(attend::core::most_integer_bias(8) == most);
  for (int o = 0; o < 8; ++o) weights.bias[o] = o % 2 == 0 ? most : -most - 1;
  std::memset(weights.data[2], 0x80, sizeof weights.data[2]);  // -128, to both ends of the sums
  std::memset(weights.data[3], 0x80, sizeof weights.data[3]);
  std::memset(x[1], 0x80, sizeof x[1]);
  attend::PackedWeights<8, 8, attend::integer> packed;
  attend::pack(weights, packed);
  for (const int zero : {-128, 0, 127}) {
    const attend::ProjectionScales<> scales({0.02, zero}, 5e-6, {0.01, 11});
    const auto check = [&](const auto& of) {
      std::memset(&y, 0, sizeof y);
      REQUIRE(attend::project(x, of, scales, y) == Status::ok);
      for (int t = 0; t < 3; ++t) {
        for (int o = 0; o < 8; ++o) CHECK(y[t][o] == exact(x[t], weights, o, zero, scales.multipliers()[0], 11, 32767));
      }
    };
    check(weights), check(packed);
  }
}

TEST_CASE("integer projections of the C++ surface: what is refused changes nothing") {
  Random random(5);
  attend::Vectors<2, 8, std::int8_t> x, y, before;
  fill_bytes(x, random);
  fill_bytes(y, random);
  before = y;
  auto weights = random_weights<8, 8>(random);
  const attend::ProjectionScales<> right(1, 0.01, 1);
  using Scales = attend::ProjectionScales<>;
  CHECK(Scales(1, 1, 0).status() == Status::bad_quantisation);
  CHECK(Scales(0, 1, 1).status() == Status::bad_quantisation);
  CHECK(attend::project(x, weights, Scales(0, 1, 1), y) == Status::bad_quantisation);
  CHECK(attend::project(x, weights, Scales(1, 1, -1), y) == Status::bad_quantisation);
  CHECK(attend::project(x, weights, Scales(1e30, 1, 1), y) == Status::bad_quantisation);
  CHECK(attend::project(x, weights, Scales({1, 128}, 1, 1), y) == Status::bad_zero_point);
  CHECK(attend::project(x, weights, Scales(1, 1, {1, -129}), y) == Status::bad_zero_point);
  CHECK(attend::project(x, weights, right, x) == Status::bad_output);
  constexpr std::int32_t most = 2147483647 - 32640 * 8;
  for (const std::int32_t bias : {most + 1, -most - 2}) {
    weights.bias[7] = bias;
    CHECK(attend::project(x, weights, right, y) == Status::bad_quantisation);
    CHECK(std::memcmp(&y, &before, sizeof y) == 0);
  }
}
