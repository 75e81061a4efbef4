// Normalisation, activations, rotary positions and residual addition through the typed surface: which arrays they take, what
// they refuse, and that what is refused changes nothing.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "../support/random.h"
#include "attend/attend.h"

using attend::Activation, attend::RotaryPairs, attend::Status;

namespace {

struct Shape {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 10;
};

template <class Array>
void fill(Array& array, std::uint64_t seed) {
  attend_test::Random(seed).fill(attend::detail::first_float(array), sizeof array / sizeof(float), 3.0f);
}

template <class Array>
bool same(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

TEST_CASE("normalisation of typed arrays: rows are as wide as the weight") {
  attend::Query<Shape, 3> query, by_head, by_token;
  fill(query, 1);
  float head_weight[10], token_weight[40], bias[40];
  fill(head_weight, 2), fill(token_weight, 3), fill(bias, 4);
  REQUIRE(attend::rms_norm(query, head_weight, by_head) == Status::ok);
  REQUIRE(attend::layer_norm(query, token_weight, bias, by_token) == Status::ok);
  for (int token = 0; token < 3; ++token) {
    for (int head = 0; head < 4; ++head) {
      float row[10];
      REQUIRE(attend::rms_norm(query[token][head], head_weight, row) == Status::ok);
      CHECK(std::memcmp(row, by_head[token][head], sizeof row) == 0);
    }
    float row[40];
    REQUIRE(attend::layer_norm(query[token], token_weight, bias, row) == Status::ok);
    CHECK(std::memcmp(row, by_token[token], sizeof row) == 0);
  }
  REQUIRE(attend::rms_norm(query, head_weight, query) == Status::ok);
  CHECK(same(query, by_head));
}

TEST_CASE("normalisation without weight, without bias") {
  float x[2][6], ones[6], zeros[6] = {}, y[2][6], expected[2][6];
  for (float& one : ones) one = 1.0f;
  fill(x, 5);
  REQUIRE(attend::rms_norm(x, attend::none, y) == Status::ok);
  REQUIRE(attend::rms_norm(x, ones, expected) == Status::ok);
  CHECK(same(y, expected));
  REQUIRE(attend::layer_norm(x, attend::none, attend::none, y) == Status::ok);
  REQUIRE(attend::layer_norm(x, ones, zeros, expected) == Status::ok);
  CHECK(same(y, expected));
  REQUIRE(attend::layer_norm(x, attend::none, ones, y) == Status::ok);
  for (int i = 0; i < 6; ++i) CHECK(y[1][i] == doctest::Approx(expected[1][i] + 1.0f));
}

TEST_CASE("normalisation refuses an epsilon that is no small positive number") {
  float x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
  const float before[4] = {5, 6, 7, 8}, nan = std::numeric_limits<float>::quiet_NaN();
  for (const float epsilon : {0.0f, -1e-5f, 1e-31f, 1e31f, nan, std::numeric_limits<float>::infinity()}) {
    CHECK(attend::rms_norm(x, attend::none, y, epsilon) == Status::bad_epsilon);
    CHECK(attend::layer_norm(x, attend::none, attend::none, y, epsilon) == Status::bad_epsilon);
  }
  CHECK(same(y, before));
  CHECK(attend::rms_norm(x, attend::none, y, 1e-30f) == Status::ok);
  CHECK(attend::rms_norm(x, attend::none, y, 1e30f) == Status::ok);
  CHECK(std::string(attend::status_text(Status::bad_epsilon)).find("epsilon") != std::string::npos);
}

TEST_CASE("activations and residual addition of typed arrays") {
  attend::Query<Shape, 2> query, up, expected;
  fill(query, 6), fill(up, 7);
  float plain[2][40];
  std::memcpy(plain, &query, sizeof plain);
  attend::activate<Activation::gelu>(query, expected);
  attend::activate<Activation::gelu>(plain);
  CHECK(std::memcmp(plain, &expected, sizeof plain) == 0);
  attend::activate<Activation::silu>(query, up, expected);
  for (int i = 0; i < 10; ++i) {
    const double x = double(query[1][3][i]), wanted = x / (1.0 + std::exp(-x)) * double(up[1][3][i]);
    CHECK(expected[1][3][i] == doctest::Approx(wanted).epsilon(1e-6));
  }
  attend::Query<Shape, 2> sum = up;
  attend::add(query, sum);
  CHECK(sum[1][3][9] == up[1][3][9] + query[1][3][9]);
  attend::add(query, sum, -0.5f);
  CHECK(sum[0][0][0] == std::fma(query[0][0][0], -0.5f, up[0][0][0] + query[0][0][0]));
}

TEST_CASE("rotary positions: a table has the bits of what is computed, for queries, keys and plain arrays") {
  attend::Rotary<6> rotary;
  static attend::RotaryTable<6, 64> table;
  REQUIRE(rotary.init(500000.0f, 2.0f) == Status::ok);
  REQUIRE(table.init(500000.0f, 2.0f) == Status::ok);
  attend::Key<Shape, 5> key, computed, tabled;
  fill(key, 8);
  computed = key, tabled = key;
  REQUIRE(rotary.rotate<RotaryPairs::halves>(computed, 59) == Status::ok);
  REQUIRE(table.rotate<RotaryPairs::halves>(tabled, 59) == Status::ok);
  CHECK(same(computed, tabled));
  CHECK_FALSE(same(computed, key));
  float plain[5][2][10];
  std::memcpy(plain, &key, sizeof plain);
  REQUIRE(rotary.rotate<RotaryPairs::halves>(plain, 59) == Status::ok);
  CHECK(std::memcmp(plain, &computed, sizeof plain) == 0);
  // Token by token, and only the first ones.
  attend::Key<Shape, 5> one_by_one = key;
  for (int token = 0; token < 5; ++token) {
    attend::Key<Shape> one;
    std::memcpy(&one, key[token], sizeof one);
    REQUIRE(rotary.rotate<RotaryPairs::halves>(one, 59 + token) == Status::ok);
    std::memcpy(one_by_one[token], &one, sizeof one);
  }
  CHECK(same(one_by_one, computed));
  attend::Key<Shape, 5> some = key;
  REQUIRE(rotary.rotate<RotaryPairs::halves>(some, 59, 2) == Status::ok);
  CHECK(std::memcmp(some[1], computed[1], sizeof some[1]) == 0);
  CHECK(std::memcmp(some[2], key[2], sizeof some[2]) == 0);
  // The score of a turned query and key depends on their distance.
  REQUIRE(table.rotate<RotaryPairs::neighbours>(tabled, 0) == Status::ok);
  for (int d = 6; d < 10; ++d) CHECK(tabled[4][1][d] == key[4][1][d]);
}

TEST_CASE("rotary positions that are refused change nothing") {
  attend::Rotary<4> rotary;
  static attend::RotaryTable<4, 8> table;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(rotary.init() == Status::ok);
  REQUIRE(table.init() == Status::ok);
  attend::Query<Shape, 3> query;
  fill(query, 9);
  attend::Query<Shape, 3> turned = query;
  REQUIRE(rotary.rotate<RotaryPairs::halves>(turned, 2) == Status::ok);
  for (const float base : {1.9f, 2e12f, -10000.0f, nan}) {
    CHECK(rotary.init(base) == Status::bad_rotary);
    CHECK(table.init(base) == Status::bad_rotary);
  }
  for (const float slower : {0.5f, 0.0f, 65537.0f, nan}) CHECK(rotary.init(10000.0f, slower) == Status::bad_rotary);
  attend::Query<Shape, 3> again = query;
  REQUIRE(rotary.rotate<RotaryPairs::halves>(again, 2) == Status::ok);
  CHECK(same(again, turned));

  again = query;
  CHECK(rotary.rotate<RotaryPairs::halves>(again, -1) == Status::bad_position);
  CHECK(rotary.rotate<RotaryPairs::halves>(again, 0x7fffffff) == Status::bad_position);
  CHECK(rotary.rotate<RotaryPairs::halves>(again, 0, 4) == Status::bad_count);
  CHECK(rotary.rotate<RotaryPairs::halves>(again, 0, -1) == Status::bad_count);
  CHECK(table.rotate<RotaryPairs::halves>(again, 6) == Status::bad_position);
  CHECK(table.rotate<RotaryPairs::halves>(again, -1) == Status::bad_position);
  CHECK(table.rotate<RotaryPairs::halves>(again, 0, 4) == Status::bad_count);
  CHECK(same(again, query));
  for (const Status refused : {Status::bad_rotary, Status::bad_position}) {
    CHECK(std::string(attend::status_text(refused)).find("rotary") != std::string::npos);
  }
  CHECK(table.rotate<RotaryPairs::halves>(again, 5) == Status::ok);
  CHECK(rotary.rotate<RotaryPairs::halves>(again, 0x7fffffff - 3) == Status::ok);
}
