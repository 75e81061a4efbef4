// The Hadamard rotation of rows: its definition, its inverse, scores that stay, and the same bits by both surfaces.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/instance.h"
#include "../support/random.h"
#include "../support/typed_objects.h"
#include "attend/layers.h"
#include "attend/c/layers.h"

using namespace attend_test;

namespace {

// Sums and differences of a row's halves, after those of each half.
template <class Number>
std::vector<Number> unscaled(const std::vector<Number>& row) {
  if (row.size() == 1) return row;
  const auto middle = row.begin() + std::ptrdiff_t(row.size() / 2);
  const std::vector<Number> first = unscaled<Number>({row.begin(), middle}), second = unscaled<Number>({middle, row.end()});
  std::vector<Number> sums, differences;
  for (std::size_t i = 0; i < first.size(); ++i) {
    sums.push_back(first[i] + second[i]);
    differences.push_back(first[i] - second[i]);
  }
  sums.insert(sums.end(), differences.begin(), differences.end());
  return sums;
}

struct Wide {
  static constexpr int query_heads = 3, kv_heads = 1, head_dim = 96;
};

}  // namespace

TEST_CASE("hadamard: sums and differences, block by block, times the root of the block's length") {
  for (const int width : {1, 2, 3, 8, 20, 32, 64, 96, 128, 512, 576}) {
    const int block = width & -width, rows = 3;
    std::vector<float> x(std::size_t(rows * width)), expected, found(x.size());
    Random(std::uint64_t(width)).fill(x.data(), x.size(), 5.0f);
    const auto scale = float(1.0 / std::sqrt(double(block)));
    for (int at = 0; at < rows * width; at += block) {
      for (const float sum : unscaled<float>({x.begin() + at, x.begin() + at + block})) expected.push_back(sum * scale);
    }
    REQUIRE(attend_hadamard(x.data(), rows, width, found.data()) == ATTEND_OK);
    CHECK(same_bits(found, expected));
    double most = 0.0;  // of the stated error
    for (int at = 0; at < rows * width; at += block) {
      const std::vector<double> exact = unscaled<double>({x.begin() + at, x.begin() + at + block});
      double magnitudes = 0.0;
      for (int i = 0; i < block; ++i) magnitudes += std::fabs(double(x[std::size_t(at + i)]));
      for (int i = 0; i < block; ++i) {
        const double error = std::fabs(double(found[std::size_t(at + i)]) - exact[std::size_t(i)] / std::sqrt(double(block)));
        most = std::fmax(most, error / (0x1p-24 * (std::log2(double(block)) + 2) * magnitudes / std::sqrt(double(block))));
      }
    }
    CHECK(most <= 1.0);
    REQUIRE(attend_hadamard(found.data(), rows, width, found.data()) == ATTEND_OK);
    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::fmax(worst, std::fabs(double(found[i]) - double(x[i])));
    CHECK(worst < 2e-5);
  }
}

TEST_CASE("hadamard: scores stay, one large number is spread, and typed arrays have the same bits") {
  attend::Query<Wide, 5> query, rotated;
  attend::Key<Wide, 5> key, turned;
  fill_array(query, 1, 2.0f);
  fill_array(key, 2);
  for (int token = 0; token < 5; ++token) key[token][0][7] = 40.0f;
  attend::hadamard(query, rotated);
  turned = key;
  attend::hadamard(turned);
  float largest = 0.0f;
  for (int t = 0; t < 5; ++t) {
    for (int h = 0; h < 3; ++h) {
      double before = 0.0, after = 0.0;
      for (int d = 0; d < 96; ++d) {
        before += double(query[t][h][d]) * double(key[t][0][d]);
        after += double(rotated[t][h][d]) * double(turned[t][0][d]);
        largest = std::fmax(largest, std::fabs(turned[t][0][d]));
      }
      CHECK(std::fabs(before - after) < 1e-4);
    }
  }
  CHECK(largest < 40.0f / 4);
  attend::Query<Wide, 5> by_rows;
  REQUIRE(attend_hadamard(query.data[0][0], 15, 96, by_rows.data[0][0]) == ATTEND_OK);
  CHECK(same_array(rotated, by_rows));
}
