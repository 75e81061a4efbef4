// Rotary positions of any kind: negative ones, one for each token, several axes, and a slice of a head.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "../support/random.h"
#include "attend/layers/rotary.h"

using attend::RotaryAxes;
using attend::RotaryPairs;
using attend::Status;
using attend_test::Random;

namespace {

constexpr int dim = 24, pairs = dim / 2, tokens = 5, heads = 2, numbers = tokens * heads * dim;
using Tokens = float[tokens][heads][dim];

const float* first(const Tokens& x) { return reinterpret_cast<const float*>(&x); }

struct World {
  attend::Rotary<dim> rotary;
  Tokens x, turned;

  World() {
    REQUIRE(rotary.init(10000.0f) == Status::ok);
    Random(7).fill(reinterpret_cast<float*>(&x), numbers);
    std::memcpy(turned, x, sizeof x);
  }
  // The token as it is at a position, by itself.
  template <RotaryPairs layout>
  void turn_token(int token, int position, float (&to)[1][heads][dim]) const {
    std::memcpy(to, x[token], sizeof to);
    CHECK(rotary.rotate<layout>(to, position) == Status::ok);
  }
};

// Every pair has the bits of a call at the position of its axis.
template <RotaryPairs layout, int axes>
void check_axes(const int (&positions)[tokens][size_t(axes)], const RotaryAxes<axes>& of_axes, const int (&axis_of)[pairs]) {
  World world;
  CHECK(world.rotary.rotate<layout>(world.turned, positions, of_axes) == Status::ok);
  for (int token = 0; token < tokens; ++token) {
    for (int axis = 0; axis < axes; ++axis) {
      float expected[1][heads][dim];
      world.turn_token<layout>(token, positions[token][axis], expected);
      for (int pair = 0; pair < pairs; ++pair) {
        if (axis_of[pair] != axis) continue;
        const int a = layout == RotaryPairs::neighbours ? 2 * pair : pair,
                  b = layout == RotaryPairs::neighbours ? a + 1 : a + pairs;
        for (int head = 0; head < heads; ++head) {
          CHECK(std::memcmp(&world.turned[token][head][a], &expected[0][head][a], sizeof(float)) == 0);
          CHECK(std::memcmp(&world.turned[token][head][b], &expected[0][head][b], sizeof(float)) == 0);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("rotary positions: negative ones turn back, to within rounding") {
  World world;
  CHECK(world.rotary.rotate<RotaryPairs::halves>(world.turned, 1000) == Status::ok);
  CHECK(std::memcmp(world.turned, world.x, sizeof world.x) != 0);
  const int back[tokens] = {-1000, -1001, -1002, -1003, -1004};
  CHECK(world.rotary.rotate<RotaryPairs::halves>(world.turned, back) == Status::ok);
  for (int i = 0; i < numbers; ++i) CHECK(std::fabs(first(world.turned)[i] - first(world.x)[i]) <= 2e-6);

  // From -3 on, tokens 0 to 2 turn by the angles of 3 to 1, with other signs.
  Tokens there, mirrored;
  std::memcpy(there, world.x, sizeof there), std::memcpy(mirrored, world.x, sizeof mirrored);
  CHECK(world.rotary.rotate<RotaryPairs::neighbours>(there, -3) == Status::ok);
  for (float(&token)[heads][dim] : mirrored) {
    for (float(&head)[dim] : token) {
      for (int i = 1; i < dim; i += 2) head[i] = -head[i];
    }
  }
  const int positions[tokens] = {3, 2, 1, 0, -1};
  CHECK(world.rotary.rotate<RotaryPairs::neighbours>(mirrored, positions) == Status::ok);
  for (int i = 0; i < numbers; ++i) CHECK(first(there)[i] == (i % 2 == 0 ? 1.0f : -1.0f) * first(mirrored)[i]);
}

TEST_CASE("rotary positions: one for each token has the bits of calls of single tokens") {
  World world;
  const int positions[tokens] = {7, -2147483647 - 1, 0, 2147483647, 99};
  CHECK(world.rotary.rotate<RotaryPairs::halves>(world.turned, positions, 4) == Status::ok);
  for (int token = 0; token < tokens; ++token) {
    float expected[1][heads][dim];
    std::memcpy(expected, world.x[token], sizeof expected);
    if (token < 4 && positions[token] != 2147483647) world.turn_token<RotaryPairs::halves>(token, positions[token], expected);
    if (token != 3) CHECK(std::memcmp(world.turned[token], expected, sizeof expected) == 0);
  }
  CHECK(std::memcmp(world.turned[3], world.x[3], sizeof world.x[3]) != 0);
}

TEST_CASE("rotary positions: pairs turn by their axes") {
  const int three[tokens][3] = {{0, 0, 0}, {1, 5, -9}, {2, 2, 2}, {100000, 3, 4}, {-7, 8, 4095}};
  const int two[tokens][2] = {{1, 2}, {3, 4}, {5, 5}, {7, -8}, {9, 10}};
  const int side_by_side[pairs] = {0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2};
  check_axes<RotaryPairs::halves>(three, RotaryAxes<3>{{3, 5, 4}, false}, side_by_side);
  check_axes<RotaryPairs::neighbours>(three, RotaryAxes<3>{{3, 5, 4}, false}, side_by_side);
  const int interleaved[pairs] = {0, 1, 2, 0, 1, 2, 0, 1, 0, 0, 0, 0};
  check_axes<RotaryPairs::halves>(three, RotaryAxes<3>{{7, 3, 2}, true}, interleaved);
  check_axes<RotaryPairs::neighbours>(three, RotaryAxes<3>{{7, 3, 2}, true}, interleaved);
  const int second_only[pairs] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  check_axes<RotaryPairs::halves>(two, RotaryAxes<2>{{0, 12}, false}, second_only);
}

TEST_CASE("rotary positions: a slice of a head turns as an array of its own, and nothing else does") {
  constexpr int before = 10, slice = 12;
  attend::Rotary<slice> rotary;
  static attend::RotaryTable<slice, 50> table;
  REQUIRE(rotary.init() == Status::ok);
  REQUIRE(table.init() == Status::ok);
  World world;
  float alone[tokens][heads][slice];
  for (int token = 0; token < tokens; ++token) {
    for (int head = 0; head < heads; ++head)
      std::memcpy(alone[token][head], world.x[token][head] + before, sizeof alone[token][head]);
  }
  CHECK(rotary.rotate<RotaryPairs::neighbours>(alone, 40) == Status::ok);
  CHECK(rotary.rotate<RotaryPairs::neighbours, before>(world.turned, 40) == Status::ok);
  Tokens by_table;
  std::memcpy(by_table, world.x, sizeof by_table);
  CHECK(table.rotate<RotaryPairs::neighbours, before>(by_table, 40) == Status::ok);
  CHECK(std::memcmp(by_table, world.turned, sizeof by_table) == 0);
  for (int token = 0; token < tokens; ++token) {
    for (int head = 0; head < heads; ++head) {
      const float *const x = world.x[token][head], *const turned = world.turned[token][head];
      CHECK(std::memcmp(turned, x, before * sizeof(float)) == 0);
      CHECK(std::memcmp(turned + before, alone[token][head], slice * sizeof(float)) == 0);
      CHECK(std::memcmp(turned + before + slice, x + before + slice, (dim - before - slice) * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("rotary positions: axes that do not have all pairs are refused, and nothing turns") {
  World world;
  const int positions[tokens][2] = {};
  const RotaryAxes<2> wrong[] = {{{6, 5}, false}, {{6, 7}, false}, {{-1, 13}, false}, {{13, -1}, true}, {{5, 7}, true}};
  for (const RotaryAxes<2>& axes : wrong) {
    CHECK(world.rotary.rotate<RotaryPairs::halves>(world.turned, positions, axes) == Status::bad_rotary);
  }
  CHECK(world.rotary.rotate<RotaryPairs::halves>(world.turned, positions, RotaryAxes<2>{{6, 6}, true}, 6) == Status::bad_count);
  CHECK(world.rotary.rotate<RotaryPairs::halves>(world.turned, 2147483647) == Status::bad_position);
  attend::Rotary<dim> not_made;
  CHECK(not_made.rotate<RotaryPairs::halves>(world.turned, positions, RotaryAxes<2>{{6, 6}, true}) == Status::bad_rotary);
  CHECK(std::memcmp(world.turned, world.x, sizeof world.x) == 0);
}
