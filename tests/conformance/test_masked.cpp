// Masked means absent, and what scores that are not ordinary numbers do. The instances of all other tests are poisoned too:
// work memory, outputs, cache slots and keys past the last are NaN before every run.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../support/instance.h"

using namespace attend_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

// The output of one way to run, on one backend.
template <class Test>
void for_each_way(const Instance& instance, Test test) {
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend), instance.text());
    test(instance.one_shot());
    test(instance.one_shot({5, 64}));
    test(instance.chunks(3, false));
    test(instance.chunks(1, false, {1, 512}));
  });
}

std::vector<float> rows_of(const std::vector<float>& output, const Shape& s, int first, int count) {
  const std::size_t row = std::size_t(s.query_heads * s.value_dim);
  return {output.begin() + std::ptrdiff_t(std::size_t(first) * row),
          output.begin() + std::ptrdiff_t(std::size_t(first + count) * row)};
}

bool all_zero(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 0.0f; });
}

bool all_nan(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

}  // namespace

TEST_CASE("a causal mask masks later keys and values from every row, whatever they hold") {
  for (const float bad : {not_a_number, infinity, -infinity, 3e38f}) {
    for (const auto& of : {std::pair{48, 1}, {48, 7}, {48, 16}, {48, 30}, {48, 47}, {4, 1}, {4, 2}, {4, 3}, {2, 1}}) {
      const int tokens = of.first, first_bad = of.second;
      const Shape s{4, 2, tokens == 48 ? 12 : 40, 13, tokens, tokens, true, 0, 0.0f, 2.0f};
      Instance clean(s, 8), dirty(s, 8);
      for (int j = first_bad; j < s.keys; ++j) {
        for (int d = 0; d < s.kv_heads * s.head_dim; ++d) dirty.key[std::size_t(j * s.kv_heads * s.head_dim + d)] = bad;
        for (int c = 0; c < s.kv_heads * s.value_dim; ++c) dirty.value[std::size_t(j * s.kv_heads * s.value_dim + c)] = bad;
      }
      const std::vector<float> expected = rows_of(clean.one_shot(), s, 0, first_bad);
      INFO(bad, " from ", first_bad);
      for_each_way(dirty,
                   [&](const std::vector<float>& output) { CHECK(same_bits(rows_of(output, s, 0, first_bad), expected)); });
    }
  }
}

TEST_CASE("rows that see no key give exactly zero, and do not disturb the others") {
  for (const int offset : {-1, -3, -20, -1000000000, std::numeric_limits<int>::min()}) {
    const Shape s{2, 1, 9, 11, 20, 30, true, offset, 0.0f, 2.0f};
    const Instance instance(s, 9);
    const int blind = std::min(-std::max(offset, -1000), s.queries);
    for_each_way(instance, [&](const std::vector<float>& output) {
      CHECK(all_zero(rows_of(output, s, 0, blind)));
      CHECK(same_bits(output, instance.defined()));
    });
  }
  const Instance nothing({2, 1, 4, 4, 3, 0, false, 0, 0.0f, 1.0f}, 1);
  for_each_way(nothing, [](const std::vector<float>& output) { CHECK(all_zero(output)); });
}

TEST_CASE("an offset past the end, however large, lets every row see every key") {
  const Instance all({2, 1, 9, 11, 20, 30, false, 0, 0.0f, 2.0f}, 9);
  for (const int offset : {30, 1000, 2000000000}) {
    const Instance causal({2, 1, 9, 11, 20, 30, true, offset, 0.0f, 2.0f}, 9);
    for_each_way(causal, [&](const std::vector<float>& output) { CHECK(same_bits(output, all.defined())); });
  }
  const Instance last({2, 1, 9, 11, 20, 30, true, std::numeric_limits<int>::max(), 0.0f, 2.0f}, 9);
  for_each_backend([&](const char*) { CHECK(same_bits(last.one_shot(), all.defined())); });
}

TEST_CASE("huge scores: equal ones share the weight, smaller ones get none, nothing is NaN") {
  const Shape s{1, 1, 1, 2, 4, 40, false, 0, 1.0f, 1.0f};
  for (const float huge : {1e30f, -1e30f, 3e37f, 1e8f}) {
    Instance equal(s, 3), one(s, 3);
    for (float& q : equal.query) q = 1.0f;
    for (float& q : one.query) q = 1.0f;
    for (int j = 0; j < s.keys; ++j) {
      equal.key[std::size_t(j)] = huge;
      one.key[std::size_t(j)] = j == 23 ? std::fabs(huge) : -std::fabs(huge);
    }
    double mean = 0.0;
    for (int j = 0; j < s.keys; ++j) mean += double(equal.value[std::size_t(2 * j)]) / s.keys;
    for_each_way(equal, [&](const std::vector<float>& output) {
      CHECK(double(output[0]) == doctest::Approx(mean).epsilon(1e-5));
      CHECK(same_bits(output, equal.defined()));
    });
    for_each_way(one, [&](const std::vector<float>& output) {
      CHECK(output[0] == one.value[46]);
      CHECK(output[1] == one.value[47]);
    });
  }
}

TEST_CASE("visible scores that overflow: minus infinity is weight 0, plus infinity and NaN make the row NaN") {
  const Shape s{1, 1, 2, 3, 3, 35, false, 0, 1.0f, 1.0f};
  const auto with_keys = [&](float first, float others) {
    Instance instance(s, 4);
    for (float& q : instance.query) q = 1e20f;
    for (int j = 0; j < s.keys; ++j) {
      instance.key[std::size_t(2 * j)] = j == 20 ? first : others;
      instance.key[std::size_t(2 * j + 1)] = 0.0f;
    }
    return instance;
  };
  const Instance only_overflow = with_keys(-3e38f, -3e38f);
  for_each_way(only_overflow, [](const std::vector<float>& output) { CHECK(all_zero(output)); });
  const Instance one_left = with_keys(0.0f, -3e38f);
  for_each_way(one_left, [&](const std::vector<float>& output) { CHECK(output[0] == one_left.value[60]); });
  for (const float bad : {3e38f, not_a_number, infinity}) {
    const Instance instance = with_keys(bad, 0.0f);
    for_each_way(instance, [](const std::vector<float>& output) { CHECK(all_nan(output)); });
  }
}

TEST_CASE("a NaN that is seen comes out as NaN, in its own column or row only") {
  const Shape s{2, 1, 6, 21, 10, 50, true, 40, 0.0f, 2.0f};
  Instance clean(s, 6), value(s, 6), query(s, 6);
  value.value[std::size_t(5 * s.value_dim + 17)] = not_a_number;
  query.query[std::size_t((4 * s.query_heads + 1) * s.head_dim + 2)] = not_a_number;
  const std::vector<float> expected = clean.one_shot();
  for_each_way(value, [&](const std::vector<float>& output) {
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (i % 21 == 17)
        CHECK(std::isnan(output[i]));
      else
        CHECK(output[i] == expected[i]);
    }
  });
  for_each_way(query, [&](const std::vector<float>& output) {
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (i / 21 == 9)
        CHECK(std::isnan(output[i]));
      else
        CHECK(output[i] == expected[i]);
    }
  });
}
