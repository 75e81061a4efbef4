// Activations: the same bits on every backend, errors, and special values.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "activation_error.h"
#include "layer_definition.h"

using namespace attend_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> results(const ActivationCase& c, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  c.run(x.data(), nullptr, int(x.size()), y.data());
  return y;
}

// Floats of all sizes: their bits are evenly spread.
std::vector<float> floats_of_all_sizes(std::size_t count, std::uint64_t seed) {
  std::vector<float> x(count);
  Random random(seed);
  for (float& a : x) {
    const std::uint32_t bits = random.bits();
    std::memcpy(&a, &bits, sizeof a);
  }
  return x;
}

}  // namespace

TEST_CASE("errors of activations keep to what the guide says, on every backend") {
  for_each_backend([](const char* backend) {
    for (const ActivationCase& c : activation_cases) {
      const WorstError worst = worst_error(c, 0, std::uint64_t(1) << 32, std::uint64_t(12 * 4001 / rounds(12)));
      CHECK_MESSAGE(worst.ulps <= c.ulps, std::string(backend), " ", std::string(c.name), ": ", worst.ulps, " at ", worst.at);
      // The range where most of the error is, more closely.
      for (const std::uint64_t sign : {std::uint64_t(0), std::uint64_t(0x80000000u)}) {
        const WorstError closely = worst_error(c, sign + 0x3c000000u, sign + 0x43000000u, std::uint64_t(12 * 401 / rounds(12)));
        CHECK_MESSAGE(closely.ulps <= c.ulps, std::string(backend), " ", std::string(c.name), ": ", closely.ulps, " at ",
                      closely.at);
      }
    }
  });
}

TEST_CASE("activations have the same bits on every backend, for any number of floats, in place, and write nothing else") {
  for (const ActivationCase& c : activation_cases) {
    attend::use_backend("scalar");
    const std::vector<float> x = floats_of_all_sizes(std::size_t(rounds(60000)), 5), expected = results(c, x);
    std::vector<float> near(std::size_t(rounds(60000)));
    Random(6).fill(near.data(), near.size(), 12.0f);
    const std::vector<float> expected_near = results(c, near);
    for_each_backend([&](const char* backend) {
      CHECK_MESSAGE(same_numbers(results(c, x), expected), std::string(backend), " ", std::string(c.name));
      CHECK_MESSAGE(same_numbers(results(c, near), expected_near), std::string(backend), " ", std::string(c.name));
      for (int count = 0; count < 40; ++count) {
        std::vector<float> row(near.begin(), near.begin() + 64);
        c.run(row.data(), nullptr, count, row.data());
        std::vector<float> wanted(expected_near.begin(), expected_near.begin() + count);
        wanted.insert(wanted.end(), near.begin() + count, near.begin() + 64);
        CHECK_MESSAGE(same_numbers(row, wanted), std::string(backend), " ", std::string(c.name), " of ", count);
      }
    });
  }
}

TEST_CASE("activations: gated products are the activation, rounded, times the other row") {
  for_each_backend([](const char* backend) {
    std::vector<float> gate(53), up(53);
    Random random(9);
    random.fill(gate.data(), gate.size(), 8.0f), random.fill(up.data(), up.size(), 3.0f);
    for (const ActivationCase& c : activation_cases) {
      std::vector<float> expected = results(c, gate), found = up;
      for (std::size_t i = 0; i < up.size(); ++i) expected[i] *= up[i];
      c.run(gate.data(), found.data(), int(found.size()), found.data());
      CHECK_MESSAGE(same_numbers(found, expected), std::string(backend), " ", std::string(c.name));
    }
  });
}

TEST_CASE("activations of special values") {
  const float tiny = 0x1p-126f, nan = std::numeric_limits<float>::quiet_NaN();
  // relu, silu, gelu, gelu_tanh, sigmoid, tanh, exp, erf
  const struct {
    float x, y[8];
  } table[] = {
      {infinity, {infinity, infinity, infinity, infinity, 1, 1, infinity, 1}},
      {-infinity, {0, 0, 0, 0, 0, -1, 0, -1}},
      {nan, {nan, nan, nan, nan, nan, nan, nan, nan}},
      {0.0f, {0, 0, 0, 0, 0.5f, 0, 1, 0}},
      {0x1.fffffep127f, {0x1.fffffep127f, 0x1.fffffep127f, 0x1.fffffep127f, 0x1.fffffep127f, 1, 1, infinity, 1}},
      {-0x1.fffffep127f, {0, 0, 0, 0, 0, -1, 0, -1}},
      {4 * tiny, {4 * tiny, 2 * tiny, 2 * tiny, 2 * tiny, 0.5f, 4 * tiny, 1, 0x1.20dd74p-124f}},
      {100.0f, {100, 100, 100, 100, 1, 1, infinity, 1}},
  };
  for_each_backend([&](const char* backend) {
    for (const auto& row : table) {
      for (int i = 0; i < 8; ++i) {
        const float found = results(activation_cases[i], {row.x})[0];
        CHECK_MESSAGE((same_number(found, row.y[i]) || found == row.y[i]), std::string(backend), " ",
                      std::string(activation_cases[i].name), " of ", row.x, " is ", found);
      }
    }
  });
}
