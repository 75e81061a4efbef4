// The stated error bounds, against the float64 oracle. accuracy.cpp measures the errors themselves, and numpy's.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "oracle.h"

using namespace attend_test;

namespace {

// Scales the queries until the largest |score|, in natural-log units, is `spread`.
Instance with_scores_to(double spread, const Shape& shape, std::uint64_t seed) {
  Instance instance(shape, seed);
  std::vector<float> none;
  const auto factor = float(spread / largest_score(instance.arrays(none)));
  for (float& q : instance.query) q *= factor;
  return instance;
}

Shape one_head(int head_dim, int queries, int keys) { return {1, 1, head_dim, head_dim, queries, keys, false, 0, 0.0f, 1.0f}; }

// The limit of the largest error on these inputs, relative to the largest |value|. Found were 1.7e-7 with scores up to 2, 1.5e-6
// up to 20, 4.8e-6 up to 100 and 3.6e-5 up to 1000. What holds for every input is in error_bound.h.
double bound(double spread) { return spread <= 2.0 ? 2.5e-7 : 1e-7 * std::max(spread, 20.0); }

// The largest |value| that exists: what lies past the last key is poison.
double largest_value(const Instance& instance) {
  double largest = 0.0;
  for (const float value : instance.value) largest = std::max(largest, std::isnan(value) ? 0.0 : std::fabs(double(value)));
  return largest;
}

void check_errors(const Instance& instance, double spread) {
  std::vector<float> output = instance.one_shot();
  const Problem problem = instance.arrays(output);
  const Errors errors = errors_against(oracle(problem), problem);
  INFO(std::string(attend::active_backend()), instance.text(), " scores to ", spread);
  CHECK(errors.largest <= bound(spread) * largest_value(instance));
  CHECK(errors.root_mean_square <= errors.largest);
}

}  // namespace

TEST_CASE("errors stay within the stated bounds, for head dims to 128 and 1 to 4096 keys") {
  std::uint64_t seed = 1;
  for (const double spread : {0.1, 2.0, 20.0, 100.0, 1000.0}) {
    for (const int head_dim : {1, 8, 16, 32, 64, 128}) {
      for (const int keys : {1, 2, 16, 64, 256, 512, 1024, 4096}) {
        const int queries = std::clamp(rounds(1 << 22) / (head_dim * keys), 8, 256);
        check_errors(with_scores_to(spread, one_head(head_dim, queries, keys), ++seed), spread);
      }
    }
  }
}

TEST_CASE("with masks, head groups, odd sizes and any scale too") {
  Random random(3);
  for (int number = 0; number < rounds(300); ++number) {
    const double spread = std::vector<double>{0.1, 2.0, 20.0, 100.0, 1000.0}[std::size_t(number % 5)];
    Shape s{};
    s.kv_heads = random.between(1, 3);
    s.query_heads = s.kv_heads * random.between(1, 4);
    s.head_dim = random.between(1, 128);
    s.value_dim = random.between(1, 128);
    s.queries = random.between(1, 20);
    s.keys = random.between(1, number % 10 == 0 ? 1200 : 150);
    s.causal = random.between(0, 3) > 0;
    s.offset = random.between(0, 1) == 0 ? s.keys - s.queries : random.between(-5, s.keys);
    s.scale = std::vector<float>{0.0f, 1.0f, -0.7f, 0x1p-6f}[std::size_t(random.between(0, 3))];
    s.spread = 1.0f;
    if (s.causal) s.offset = std::max(s.offset, 1 - s.queries);  // one key at least is seen
    check_errors(with_scores_to(spread, s, std::uint64_t(number) + 500), spread);
  }
}

TEST_CASE("on every backend") {
  for_each_backend([](const char*) {
    for (const double spread : {2.0, 20.0, 1000.0}) {
      check_errors(with_scores_to(spread, one_head(32, 8, 100), 1), spread);
      check_errors(with_scores_to(spread, {4, 2, 64, 24, 5, 600, true, 590, 0.0f, 1.0f}, 2), spread);
    }
  });
}

TEST_CASE("the oracle knows what can be worked out by hand") {
  // Two query heads share the first key head, two the second. Scores are 0 or ln 3, so weights are 1/4 and 3/4, or halves.
  const auto ln3 = float(std::log(3.0));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float query[2][4][1] = {{{0.0f}, {1.0f}, {0.0f}, {-1.0f}}, {{1.0f}, {0.0f}, {1.0f}, {2.0f}}};
  const float key[3][2][1] = {{{0.0f}, {ln3}}, {{ln3}, {0.0f}}, {{nan}, {nan}}};
  const float value[3][2][2] = {{{4.0f, 8.0f}, {-4.0f, 0.0f}}, {{8.0f, 0.0f}, {4.0f, 4.0f}}, {{nan, nan}, {nan, nan}}};
  Problem p{};
  p.query = {query[0][0], 4, 1};
  p.key = {key[0][0], 2, 1};
  p.value = {value[0][0], 4, 2};
  p.query_heads = 4;
  p.kv_heads = 2;
  p.head_dim = 1;
  p.value_dim = 2;
  p.queries = 2;
  p.keys = 2;
  p.scale = 1.0f;
  const auto check = [&p](const std::vector<double>& expected) {
    const std::vector<double> found = oracle(p);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - expected[i]) < 1e-6);  // ln 3 is a float here
  };
  check({6, 4, 7, 2, 0, 2, 2, 3, 7, 2, 6, 4, -2, 1, -3.2, 0.4});
  CHECK(largest_score(p) == doctest::Approx(2.0 * std::log(3.0)));
  p.scale = -1.0f;
  check({6, 4, 5, 6, 0, 2, -2, 1, 5, 6, 6, 4, 2, 3, 3.2, 3.6});
  p.scale = 1.0f;
  p.causal = true;  // the first query sees one key, the second both
  check({4, 8, 4, 8, -4, 0, -4, 0, 7, 2, 6, 4, -2, 1, -3.2, 0.4});
  p.offset = -1;  // none, and one
  check({0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 4, 8, -4, 0, -4, 0});
  p.offset = std::numeric_limits<int>::min();
  check(std::vector<double>(16, 0.0));
  p.offset = std::numeric_limits<int>::max();
  check({6, 4, 7, 2, 0, 2, 2, 3, 7, 2, 6, 4, -2, 1, -3.2, 0.4});
}

TEST_CASE("the comparison finds the largest error, and no NaN slips through") {
  float output[2][3] = {{1.0f, 2.0f, -7.0f}, {3.0f, 4.5f, -7.0f}};  // two columns, stride 3
  Problem p{};
  p.output = {output[0], 3, 0};
  p.query_heads = p.kv_heads = 1;
  p.value_dim = 2;
  p.queries = 2;
  const Errors errors = errors_against({1.0, 2.0, 3.0, 4.0}, p);
  CHECK(errors.largest == 0.5);
  CHECK(errors.root_mean_square == 0.25);
  output[0][0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(errors_against({1.0, 2.0, 3.0, 4.0}, p).largest));
}
