// Residual additions and copies in integers by the C++ surface: the definition, by scales as users have them; in place,
// rectified; and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../conformance/integer_sum.h"
#include "../support/random.h"
#include "attend/layers.h"

using namespace attend_test;
using attend::Status;

namespace {

template <class Number>
constexpr int lowest_of() {
  return sizeof(Number) == 1 ? -128 : -32768;
}

// The sum beside its definition, and beside real numbers: factors of 21 bits err by less than half a step in 2^20.
template <class A, class B, class Y>
void check_sum(Random& random, attend::TensorScale of_a, attend::TensorScale of_b, attend::TensorScale of_y) {
  attend::Vectors<3, 35, A> a;
  attend::Vectors<3, 35, B> b;
  attend::Vectors<3, 35, Y> y, rectified;
  fill_bytes(a, random), fill_bytes(b, random);
  const attend::SumScales scales(of_a, of_b, of_y);
  REQUIRE(attend::add(a, b, scales, y) == Status::ok);
  REQUIRE(attend::add(a, b, scales.relu(), rectified) == Status::ok);
  const attend::core::IntegerSum sum = scales.sum(&a, &b, &y, 0, lowest_of<Y>());
  for (int t = 0; t < 3; ++t) {
    for (int i = 0; i < 35; ++i) {
      REQUIRE(y[t][i] == added(sum, a[t][i], b[t][i], int(sizeof(Y))));
      REQUIRE(rectified[t][i] == (y[t][i] > of_y.zero_point ? y[t][i] : of_y.zero_point));
      const double real = ((a[t][i] - of_a.zero_point) * of_a.scale + (b[t][i] - of_b.zero_point) * of_b.scale) / of_y.scale;
      const double exact = std::fmin(std::fmax(real + of_y.zero_point, lowest_of<Y>()), -lowest_of<Y>() - 1);
      const double most =
          (of_a.scale > of_b.scale ? of_a.scale : of_b.scale) / of_y.scale * (sizeof(A) + sizeof(B) > 2 ? 0.07 : 3e-4);
      REQUIRE(std::fabs(y[t][i] - exact) <= 0.5 + most);
    }
  }
}

struct Shape {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 8;
};

}  // namespace

TEST_CASE("integer sums of the C++ surface: their definition") {
  Random random(31);
  for (int round = 0; round < 50; ++round) {
    const auto scale = [&] {
      return attend::TensorScale(std::ldexp(1 + random.uniform() / 2, random.between(-4, 2)), random.between(-128, 127));
    };
    check_sum<std::int8_t, std::int8_t, std::int8_t>(random, scale(), scale(), scale());
    check_sum<std::int8_t, std::int8_t, std::int16_t>(random, scale(), scale(), scale());
    check_sum<std::int16_t, std::int8_t, std::int16_t>(random, scale(), scale(), scale());
    check_sum<std::int8_t, std::int16_t, std::int8_t>(random, scale(), scale(), scale());
    check_sum<std::int16_t, std::int16_t, std::int16_t>(random, scale(), scale(), scale());
  }
}

TEST_CASE("integer sums of the C++ surface: copies in other steps, in place, and arrays of a shape") {
  Random random(32);
  attend::Vectors<4, 16, std::int8_t> x, y, expected;
  fill_bytes(x, random);
  constexpr attend::SumScales half({0.5, 3}, {1, -2});
  static_assert(half.status() == Status::ok);
  REQUIRE(attend::requantise(x, half, y) == Status::ok);
  for (int i = 0; i < 64; ++i) CHECK(y[i / 16][i % 16] == int(std::floor((x[i / 16][i % 16] - 3) / 2.0 + 0.5)) - 2);
  REQUIRE(attend::requantise(x, half.relu(), expected) == Status::ok);
  for (int i = 0; i < 64; ++i) CHECK(expected[i / 16][i % 16] == (y[i / 16][i % 16] > -2 ? y[i / 16][i % 16] : -2));

  attend::Vectors<4, 16, std::int16_t> wide;
  constexpr attend::SumScales finer(0.5, 0.125);
  REQUIRE(attend::requantise(x, finer, wide) == Status::ok);
  for (int i = 0; i < 64; ++i) CHECK(wide[i / 16][i % 16] == 4 * x[i / 16][i % 16]);

  constexpr attend::SumScales sum({0.5, 1}, 0.25, {0.75, -5});
  attend::Output<Shape, 4> output;
  fill_bytes(output, random);
  REQUIRE(attend::add(x, output, sum, expected) == Status::ok);
  y = x;
  REQUIRE(attend::add(y, output, sum, y) == Status::ok);
  CHECK(std::memcmp(&y, &expected, sizeof y) == 0);
  REQUIRE(attend::add(x, output, sum, output) == Status::ok);
  CHECK(std::memcmp(&output, &expected, sizeof y) == 0);
}

TEST_CASE("integer sums of the C++ surface: what is refused changes nothing") {
  Random random(33);
  struct {
    attend::Vectors<2, 8, std::int8_t> x, y;
  } arrays, before;
  fill_bytes(arrays, random);
  std::memcpy(&before, &arrays, sizeof before);
  using Two = attend::SumScales<2>;
  using One = attend::SumScales<1>;
  const auto refused = [&](const Two& scales, Status status) {
    CHECK(scales.status() == status);
    CHECK(attend::add(arrays.x, arrays.y, scales, arrays.y) == status);
    CHECK(std::memcmp(&before, &arrays, sizeof before) == 0);
  };
  const double infinity = HUGE_VAL;
  refused(Two(0, 1, 1), Status::bad_quantisation);
  refused(Two(1, -1, 1), Status::bad_quantisation);
  refused(Two(1, 1, 0), Status::bad_quantisation);
  refused(Two(1, infinity, 1), Status::bad_quantisation);
  refused(Two(1, 1, std::nan("")), Status::bad_quantisation);
  refused(Two(8192, 1, 1), Status::bad_quantisation);
  refused(Two(1, 1, 1025), Status::bad_quantisation);
  refused(Two(0x1p20, 0x1p-12, 1), Status::bad_quantisation);
  refused(Two({1, 128}, 1, 1), Status::bad_zero_point);
  refused(Two(1, {1, -129}, 1), Status::bad_zero_point);
  refused(Two(1, 1, {1, 200}), Status::bad_zero_point);
  static_assert(Two(1, 8191, 1).status() == Status::ok && One(1, 1024).status() == Status::ok);
  CHECK(Two(1, 0x1p-31, 1024).status() == Status::bad_quantisation);
  CHECK(One(1, 0).status() == Status::bad_quantisation);
  CHECK(One(1, 1025).status() == Status::bad_quantisation);
  auto& shifted = *reinterpret_cast<attend::Vectors<2, 8, std::int8_t>*>(&arrays.x[0][1]);
  CHECK(attend::add(arrays.x, arrays.y, Two(1, 1, 1), shifted) == Status::bad_output);
  CHECK(attend::requantise(arrays.x, One(1, 1), shifted) == Status::bad_output);
  CHECK(std::memcmp(&before, &arrays, sizeof before) == 0);
  const attend::Vectors<2, 8, std::int8_t> apart = arrays.y;
  CHECK(attend::add(arrays.x, apart, Two(1, 1, 1), shifted) == Status::bad_output);
  CHECK(attend::add(apart, arrays.x, Two(1, 1, 1), shifted) == Status::bad_output);
  CHECK(std::memcmp(&before, &arrays, sizeof before) == 0);
  attend::Vectors<1, 8, std::int16_t> wide;
  auto& same = *reinterpret_cast<attend::Vectors<1, 8, std::int8_t>*>(&wide);
  CHECK(attend::requantise(same, One(1, 1), wide) == Status::bad_output);
}
