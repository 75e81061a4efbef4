// Normalisation: the defined bits on every backend, for any width, stride and number of rows, and its error.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "attend/layers/core_layer.h"
#include "layer_definition.h"

using namespace attend_test;

namespace {

struct Case {
  int rows, width;
  bool has_weight, has_bias, layer, in_place;
  float spread, shift, epsilon;
};

Case random_case(Random& random) {
  Case c;
  c.rows = random.between(0, 3), c.width = random.between(0, 9) == 0 ? random.between(1, 600) : random.between(1, 70);
  c.has_weight = random.between(0, 3) != 0, c.has_bias = random.between(0, 1) != 0;
  c.layer = random.between(0, 1) != 0, c.in_place = random.between(0, 1) != 0;
  c.spread = std::ldexp(1.0f, random.between(-20, 20)), c.shift = random.between(0, 1) != 0 ? 3.0f : 0.0f;
  c.epsilon = random.between(0, 3) == 0 ? 1e-30f : 1e-5f;
  return c;
}

// Rows `stride` apart, and NaN wherever the call must not look.
struct Rows {
  std::vector<float> x, weight, bias;
  int stride;

  Rows(const Case& c, Random& random) : stride(c.width + random.between(0, 5)) {
    x = poison(std::size_t(c.rows * stride) + 1);
    weight.resize(std::size_t(c.width)), bias.resize(std::size_t(c.width));
    for (int row = 0; row < c.rows; ++row) {
      for (int i = 0; i < c.width; ++i) x[std::size_t(row * stride + i)] = (random.uniform() + c.shift) * c.spread;
    }
    random.fill(weight.data(), weight.size(), 2.0f);
    random.fill(bias.data(), bias.size(), 2.0f);
  }
  std::vector<float> row(int index, int width) const {
    return std::vector<float>(x.begin() + index * stride, x.begin() + index * stride + width);
  }
};

// What a call writes, with what it must not touch.
std::vector<float> normalised(const Case& c, const Rows& rows) {
  std::vector<float> y = c.in_place ? rows.x : poison(rows.x.size());
  const attend::core::Normalisation n = {
      c.in_place ? y.data() : rows.x.data(),   rows.stride, y.data(), rows.stride, c.has_weight ? rows.weight.data() : nullptr,
      c.has_bias ? rows.bias.data() : nullptr, c.rows,      c.width,  c.epsilon};
  if (c.layer) {
    attend::core::layer_norm(n);
  } else {
    attend::core::rms_norm(n);
  }
  return y;
}

std::vector<float> defined_rows(const Case& c, const Rows& rows) {
  std::vector<float> y = poison(rows.x.size());
  const float* const weight = c.has_weight ? rows.weight.data() : nullptr;
  for (int row = 0; row < c.rows; ++row) {
    const std::vector<float> x = rows.row(row, c.width);
    const std::vector<float> of_row = c.layer
                                          ? defined_layer_norm(x, weight, c.has_bias ? rows.bias.data() : nullptr, c.epsilon)
                                          : defined_rms_norm(x, weight, c.epsilon);
    std::copy(of_row.begin(), of_row.end(), y.begin() + row * rows.stride);
  }
  return y;
}

// The largest error of a row, in units of 2^-24 of what include/guide/exactness.md says the bound is relative to.
double error_of(const Case& c, const Rows& rows, const std::vector<float>& found, int row) {
  const std::vector<float> x = rows.row(row, c.width);
  long double mean = 0.0L, squares = 0.0L, sizes = 0.0L, worst = 0.0L;
  if (c.layer) {
    for (const float a : x) mean += a, sizes += std::fabs(a);
  }
  mean /= c.width, sizes /= c.width;
  for (const float a : x) squares += (a - mean) * (a - mean);
  const long double root = 1.0L / std::sqrt(squares / c.width + static_cast<long double>(c.epsilon));
  for (int i = 0; i < c.width; ++i) {
    const std::size_t at = std::size_t(i);
    const long double weight = c.has_weight ? rows.weight[at] : 1.0f, bias = c.layer && c.has_bias ? rows.bias[at] : 0.0f;
    const long double exact = (x[at] - mean) * root * weight + bias;
    const long double size = (std::fabs(x[at] - mean) + sizes) * root * std::fabs(weight) + std::fabs(bias);
    const long double error = std::fabs(found[std::size_t(row * rows.stride + i)] - exact);
    if (error > 0.0L) worst = std::max(worst, error / size);
  }
  return double(worst * 0x1p24L);
}

}  // namespace

TEST_CASE("normalisation: random rows have the defined bits on every backend") {
  for_each_backend([](const char* backend) {
    Random random(7);
    int wrong = 0;
    for (int round = 0; round < rounds(3000); ++round) {
      const Case c = random_case(random);
      const Rows rows(c, random);
      wrong += same_numbers(normalised(c, rows), defined_rows(c, rows)) ? 0 : 1;
    }
    CHECK_MESSAGE(wrong == 0, std::string(backend));
  });
}

TEST_CASE("errors of normalisation keep to the bound of the guide") {
  Random random(11);
  double worst[2] = {};
  for (int round = 0; round < rounds(3000); ++round) {
    const Case c = random_case(random);
    const Rows rows(c, random);
    const std::vector<float> y = normalised(c, rows);
    const double panels = double((c.width + 15) / 16), roundings = c.layer ? panels + 10.0 : panels / 2.0 + 6.0;
    for (int row = 0; row < c.rows; ++row) {
      const double error = error_of(c, rows, y, row);
      worst[c.layer] = std::max(worst[c.layer], error / roundings);
    }
  }
  MESSAGE("root mean square: ", worst[0], ", layer: ", worst[1], " of the bound");
  CHECK(worst[0] <= 1.0);
  CHECK(worst[1] <= 1.0);
}

TEST_CASE("normalisation: NaN is seen, and so are sums of squares that overflow") {
  for_each_backend([](const char*) {
    std::vector<float> x(37, 1.0f), y(37);
    attend::core::Normalisation n = {x.data(), 37, y.data(), 37, nullptr, nullptr, 1, 37, 1e-5f};
    x[35] = std::numeric_limits<float>::quiet_NaN();
    attend::core::rms_norm(n);
    for (const float a : y) CHECK(std::isnan(a));
    attend::core::layer_norm(n);
    for (const float a : y) CHECK(std::isnan(a));
    x[35] = 1e30f;
    attend::core::rms_norm(n);
    for (const float a : y) CHECK(a == 0.0f);
  });
}

TEST_CASE("residual addition rounds once on every backend, and writes nothing else") {
  for_each_backend([](const char*) {
    Random random(3);
    for (int count = 0; count < 70; ++count) {
      std::vector<float> x = poison(std::size_t(count)), y = poison(std::size_t(count) + 20);
      random.fill(x.data(), x.size()), random.fill(y.data(), y.size());
      std::vector<float> expected = y;
      for (std::size_t i = 0; i < x.size(); ++i) expected[i] = std::fma(x[i], 0.7f, y[i]);
      attend::core::add(x.data(), 0.7f, count, y.data());
      CHECK(same_numbers(y, expected));
    }
  });
}
