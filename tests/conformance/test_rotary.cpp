// Rotary positions: angles against long double, the defined bits on every backend, both orders of pairs.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../support/tested.h"

#include "../../src/layers/list.h"

#include "../../src/layers/body.h"
#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/layers/core_layer.h"
#include "layer_definition.h"

using namespace attend_test;

namespace {

// include/guide/exactness.md says so.
constexpr double angle_error = 1.2 * 0x1p-24;

struct Angles {
  std::vector<float> cosines, sines;

  Angles(const std::vector<std::uint64_t>& turns, int position) : cosines(turns.size()), sines(turns.size()) {
    attend::core::rotary_angles({turns.data(), 1.0f}, int(turns.size()), position, cosines.data(), sines.data());
  }
};

std::vector<std::uint64_t> turns_of(float base, float scaling_factor, int pairs) {
  std::vector<std::uint64_t> turns(static_cast<std::size_t>(pairs));
  attend::core::rotary_turns(base, scaling_factor, pairs, turns.data());
  return turns;
}

double worst_angle(float base, float scaling_factor, int pairs, int position) {
  const std::vector<std::uint64_t> turns = turns_of(base, scaling_factor, pairs);
  const Angles angles(turns, position);
  double worst = 0.0;
  for (int i = 0; i < pairs; ++i) {
    const long double angle =
        position * (std::pow(static_cast<long double>(base), -static_cast<long double>(i) / pairs) / scaling_factor);
    worst = std::max(worst, std::fabs(double(angles.cosines[std::size_t(i)] - std::cos(angle))));
    worst = std::max(worst, std::fabs(double(angles.sines[std::size_t(i)] - std::sin(angle))));
  }
  return worst;
}

}  // namespace

TEST_CASE("errors of rotary angles: cosines and sines are within 1.2 * 2^-24 up to position 1048576") {
  Random random(1);
  double worst = 0.0;
  for (const float base : {10000.0f, 500000.0f, 1e6f, 2.0f, 1e12f, 10007.5f}) {
    for (const float scaling_factor : {1.0f, 4.0f, 2.5f, 65536.0f}) {
      for (const int pairs : {1, 2, 3, 32, 64, 100}) {
        for (const int position : {0, 1, 2, 4095, 1048576})
          worst = std::max(worst, worst_angle(base, scaling_factor, pairs, position));
        for (int round = 0; round < rounds(24); ++round) {
          worst = std::max(worst, worst_angle(base, scaling_factor, pairs, random.between(0, 1048576)));
        }
      }
    }
  }
  MESSAGE("cosine, sine: ", worst * 0x1p24, " * 2^-24");
  CHECK(worst <= angle_error);
}

TEST_CASE("errors of rotary positions: a pair of length r is within 3.7 * 2^-24 * r") {
  Random random(2);
  double worst = 0.0;
  for (int round = 0; round < rounds(20000); ++round) {
    const int position = random.between(0, 1048576);
    const std::vector<std::uint64_t> turns = turns_of(10000.0f, 1.0f, 2);
    float x[4];
    random.fill(x, 4);
    const long double angle = position / 100.0L, a = x[1], b = x[3];
    attend::core::rotate_at({x, 4, 1, 2, 2, nullptr, nullptr}, {turns.data(), 1.0f}, position, 1, 4);
    const long double length = std::hypot(a, b);
    worst = std::max(worst, double(std::fabs(x[1] - (a * std::cos(angle) - b * std::sin(angle))) / length));
    worst = std::max(worst, double(std::fabs(x[3] - (b * std::cos(angle) + a * std::sin(angle))) / length));
  }
  MESSAGE("turned pairs: ", worst * 0x1p24, " * 2^-24");
  CHECK(worst <= 3.7 * 0x1p-24);
}

TEST_CASE("rotary angles: a position of 0 turns nothing, and quarters of a turn are exact") {
  const Angles none(turns_of(10000.0f, 1.0f, 8), 0);
  for (const float a : none.cosines) CHECK(a == 1.0f);
  for (const float a : none.sines) CHECK(a == 0.0f);
  const std::uint64_t quarter = std::uint64_t(1) << 62;
  const float cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(attend::cosine_and_sine(i * quarter).cosine == cosines[i]);
    CHECK(attend::cosine_and_sine(i * quarter).sine == sines[i]);
  }
}

TEST_CASE("rotary turns: fixed-point logarithm and power are within 2^-55") {
  // Where long double is double, its own rounding is larger.
  constexpr long double most = std::numeric_limits<long double>::digits >= 64 ? 0x1p-55L : 0x1p-46L;
  for (const float a : {1.0f, 2.0f, 3.0f, 10000.0f, 500000.0f, 1e12f, 0x1.fffffep39f}) {
    const long double found = std::ldexp(static_cast<long double>(attend::fixed_log2(a)), -57);
    CHECK(std::fabs(found - std::log2(static_cast<long double>(a))) <= most);
  }
  for (std::uint64_t y = 0; y < std::uint64_t(40) << 57; y += (std::uint64_t(1) << 57) / 7 * 3) {
    const long double found = std::ldexp(static_cast<long double>(attend::fixed_exp2_of_minus(y)), -63);
    CHECK(std::fabs(found - std::exp2(-std::ldexp(static_cast<long double>(y), -57))) <= most);
  }
  CHECK(attend::multiply_high(~std::uint64_t(0), ~std::uint64_t(0)) == ~std::uint64_t(0) - 1);
  CHECK(attend::multiply_high(0x123456789abcdef0u, 0xfedcba9876543210u) == 0x121fa00ad77d7422u);
}

TEST_CASE("rotary positions: random heads have the defined bits on every backend, and nothing else moves") {
  for_each_backend([](const char* backend) {
    Random random(13);
    int wrong = 0;
    for (int round = 0; round < rounds(1200); ++round) {
      const int tokens = random.between(1, 3), heads = random.between(1, 3), pairs = random.between(1, 40);
      const int head_dim = 2 * pairs + random.between(0, 5), position = random.between(0, 1 << 20);
      const bool halves = random.between(0, 1) != 0;
      const std::vector<std::uint64_t> turns = turns_of(10000.0f, 1.0f, pairs);
      std::vector<float> x(std::size_t(tokens * heads * head_dim));
      random.fill(x.data(), x.size());
      std::vector<float> expected = x;
      for (int row = 0; row < tokens * heads; ++row) {
        const Angles angles(turns, position + row / heads);
        float* head = expected.data() + row * head_dim;
        for (int i = 0; i < pairs; ++i) {
          float& a = head[halves ? i : 2 * i];
          float& b = head[halves ? i + pairs : 2 * i + 1];
          defined_turn(a, b, angles.cosines[std::size_t(i)], angles.sines[std::size_t(i)]);
        }
      }
      const attend::core::Rotation rotation = {x.data(), head_dim, heads, pairs, halves ? pairs : 1, nullptr, nullptr};
      attend::core::rotate_at(rotation, {turns.data(), 1.0f}, position, tokens, heads * head_dim);
      wrong += same_numbers(x, expected) ? 0 : 1;
    }
    CHECK_MESSAGE(wrong == 0, std::string(backend));
  });
}
