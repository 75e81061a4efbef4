// Normalisation around linear attention: l2_norm and gated_rms_norm beside the definition of their parts and float64.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "../conformance/layer_definition.h"
#include "../support/typed_objects.h"
#include "attend/attend.h"
#include "attend/layers.h"

using namespace attend_test;
using attend::GateOrder;
using attend::Status;

namespace {

constexpr int tokens = 3, heads = 4, width = 24;
using Numbers = float[tokens][heads][width];

// Row by row: f of x and its place.
template <class Make>
void make_rows(Numbers& to, int size, Make make) {
  for (int first = 0; first < tokens * heads * width; first += size) {
    const std::vector<float> row = make(first);
    std::memcpy(&to[0][0][0] + first, row.data(), sizeof(float) * row.size());
  }
}

}  // namespace

TEST_CASE("l2_norm has the bits of rms_norm and a scale, and the length of its rows is 1") {
  static Numbers x, y, expected;
  fill_array(x, 1);
  std::memset(x[1][2], 0, sizeof x[1][2]);
  make_rows(expected, width, [](int first) {
    const float* const from = &x[0][0][0] + first;
    const volatile float epsilon = 1e-6f * (1.0f / float(width));
    std::vector<float> row = defined_rms_norm(std::vector<float>(from, from + width), nullptr, epsilon);
    for (float& number : row) number = attend::default_scale(width) * number;
    return row;
  });
  CHECK(attend::l2_norm(x, y) == Status::ok);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
  double worst = 0;
  for (int i = 0; i < tokens * heads; ++i) {
    double sum = 1e-6;
    for (const float number : x[i / heads][i % heads]) sum += double(number) * double(number);
    for (int c = 0; c < width; ++c)
      worst =
          std::max(worst, std::fabs(double(y[i / heads][i % heads][c]) - double(x[i / heads][i % heads][c]) / std::sqrt(sum)));
  }
  CHECK(worst < 3e-7);
  CHECK(y[1][2][5] == 0.0f);
  CHECK(attend::l2_norm(x, x) == Status::ok);
  CHECK(std::memcmp(x, expected, sizeof x) == 0);
  CHECK(attend::l2_norm(x, y, -1.0f) == Status::bad_epsilon);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
}

TEST_CASE("gated_rms_norm has the bits of its parts, in either order, with groups, and is near float64") {
  static Numbers x, gate, y, gates, expected;
  static float weight[width], long_weight[heads * width];
  fill_array(x, 1), fill_array(gate, 2, 4.0f), fill_array(weight, 3), fill_array(long_weight, 4);
  attend::activate<attend::Activation::silu>(gate, gates);

  make_rows(expected, width, [](int first) {
    const float* const from = &x[0][0][0] + first;
    std::vector<float> row = defined_rms_norm(std::vector<float>(from, from + width), weight, 1e-5f);
    for (int c = 0; c < width; ++c) row[std::size_t(c)] *= (&gates[0][0][0])[first + c];
    return row;
  });
  CHECK(attend::gated_rms_norm<GateOrder::last>(x, gate, weight, y) == Status::ok);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
  double worst = 0, squares = 1e-5;
  for (const float number : x[2][1]) squares += double(number) * double(number) / width;
  for (int c = 0; c < width; ++c) {
    const double z = double(gate[2][1][c]),
                 exact = double(x[2][1][c]) / std::sqrt(squares) * double(weight[c]) * z / (1 + std::exp(-z));
    worst = std::max(worst, std::fabs(double(y[2][1][c]) - exact));
  }
  CHECK(worst < 2e-6);

  // A row is a token of 2 groups.
  const auto grouped = [](int groups, const float* weights) {
    return [groups, weights](int first) {
      const int size = heads * width / groups;
      std::vector<float> row;
      for (int i = 0; i < size; ++i) row.push_back((&x[0][0][0])[first + i] * (&gates[0][0][0])[first + i]);
      return defined_rms_norm(row, weights == nullptr ? nullptr : weights + first % (heads * width), 1e-3f);
    };
  };
  make_rows(expected, heads * width / 2, grouped(2, long_weight));
  CHECK(attend::gated_rms_norm<GateOrder::first, 2>(x, gate, long_weight, y, 1e-3f) == Status::ok);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
  std::memcpy(y, gate, sizeof y);
  CHECK(attend::gated_rms_norm<GateOrder::first, 2>(x, y, long_weight, y, 1e-3f) == Status::ok);  // in the place of the gate
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
  make_rows(expected, width, grouped(heads, nullptr));
  std::memcpy(y, x, sizeof y);
  CHECK(attend::gated_rms_norm<GateOrder::first>(y, gate, attend::none, y, 1e-3f) == Status::ok);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);

  attend::activate<attend::Activation::sigmoid>(gate, gates);
  make_rows(expected, width, [](int first) {
    const float* const from = &x[0][0][0] + first;
    std::vector<float> row = defined_rms_norm(std::vector<float>(from, from + width), weight, 1e-5f);
    for (int c = 0; c < width; ++c) row[std::size_t(c)] *= (&gates[0][0][0])[first + c];
    return row;
  });
  constexpr auto sigmoid = attend::Activation::sigmoid;
  CHECK(attend::gated_rms_norm<GateOrder::last, 1, sigmoid>(x, gate, weight, y) == Status::ok);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
  CHECK(attend::gated_rms_norm<GateOrder::first>(x, gate, weight, y, 0.0f) == Status::bad_epsilon);
  CHECK(attend::gated_rms_norm<GateOrder::last>(x, gate, weight, y, 0.0f) == Status::bad_epsilon);
  CHECK(std::memcmp(y, expected, sizeof y) == 0);
}

TEST_CASE("multiply rounds each product once, by a number for each or for several, whatever the environment is") {
  static Numbers x, by, y, products, scaled;
  static float factors[tokens][heads];
  fill_array(x, 1), fill_array(by, 2), fill_array(factors, 3);
  x[0][0][0] = 1.0f + 0x1p-23f, by[0][0][0] = 1.0f + 0x1p-1f;  // a tie
  for (int i = 0; i < tokens * heads * width; ++i) {
    const float number = (&x[0][0][0])[i];
    (&products[0][0][0])[i] = number * (&by[0][0][0])[i];
    (&scaled[0][0][0])[i] = number * (&factors[0][0])[i / width];
  }
  for (const FloatEnvironment& environment : float_environments) {
    INFO(environment.name);
    in_environment(environment, [] { attend::multiply(x, by, y); });
    CHECK(std::memcmp(y, products, sizeof y) == 0);
    in_environment(environment, [] { attend::multiply(x, factors, y); });
    CHECK(std::memcmp(y, scaled, sizeof y) == 0);
    std::memcpy(y, x, sizeof y);
    in_environment(environment, [] { attend::multiply(y, by, y); });
    CHECK(std::memcmp(y, products, sizeof y) == 0);
    std::memcpy(y, by, sizeof y);
    in_environment(environment, [] { attend::multiply(x, y, y); });
    CHECK(std::memcmp(y, products, sizeof y) == 0);
  }
}
