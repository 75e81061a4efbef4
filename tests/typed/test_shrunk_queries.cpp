// Queries so large that sums of their products with keys of int8 overflow before the scale of the key takes that back.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "../support/typed_objects.h"

using namespace attend_test;
using attend::float16;
using attend::int8;
using attend::Status;

namespace {

struct Talk {
  using Values = float;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 64, max_tokens = 1;
};
struct Alone : Talk {  // decode takes row by row, where keys and values are of one format
  using Values = int8;
  static constexpr int kv_heads = 4;
};
struct Powers {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 24, max_tokens = 100;
};

// Queries 2^119 times as large over keys 2^-119 times as large, whose bytes are the same and whose scales are as much smaller.
template <class ValueFormat, int queries, class AnyOptions>
void check_powers(const AnyOptions& options) {
  constexpr int tokens = 77;
  auto usual = filled<attend::Query<Powers, queries>>(1), large_query = usual;
  auto key = filled<attend::Key<Powers, tokens>>(2), small_key = key;
  const auto value = filled<attend::Value<Powers, tokens>>(3);
  // The last query stays as it is: rows of a tile are large or not.
  for (std::size_t i = 0; i < sizeof usual / sizeof(float); ++i) {
    const bool is_last = i >= sizeof usual / sizeof(float) - Powers::head_dim;
    numbers_of(large_query)[i] = std::ldexp(numbers_of(usual)[i], is_last ? 0 : 120);
    numbers_of(usual)[i] = std::ldexp(numbers_of(large_query)[i], -119);
  }
  for (std::size_t i = 0; i < sizeof key / sizeof(float); ++i) numbers_of(small_key)[i] = std::ldexp(numbers_of(key)[i], -119);
  auto cache = std::make_unique<attend::KvCache<Powers, int8, ValueFormat>>(),
       small = std::make_unique<attend::KvCache<Powers, int8, ValueFormat>>();
  REQUIRE(cache->append(key, value) == Status::ok);
  REQUIRE(small->append(small_key, value) == Status::ok);
  static attend::OptionWorkspace<Powers, queries> work_of_powers;
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend));
    auto found = poisoned<attend::Output<Powers, queries>>(), expected = filled<attend::Output<Powers, queries>>(9);
    REQUIRE(attend::prefill(usual, *cache, expected, work_of_powers, options) == Status::ok);
    REQUIRE(attend::prefill(large_query, *small, found, work_of_powers, options) == Status::ok);
    CHECK(same_array(found, expected));
  });
}

}  // namespace

TEST_CASE("shrunk queries: sums over keys of int8 that overflow before the scale of the key give the scores all the same") {
  attend::ScoreOptions<Powers> options;
  options.soft_cap = 3.0f;
  options.window_left = 30;
  check_powers<int8, 1>(attend::Options{});
  check_powers<int8, 3>(attend::Options{});
  check_powers<float, 40>(attend::Options{});
  check_powers<int8, 7>(options);
  check_powers<float16, 30>(options);
}

TEST_CASE_TEMPLATE("shrunk queries: one key of int8 and a query whose sum overflows, the limit that other formats give", Shape,
                   Talk, Alone) {
  for (const float number : {2e36f, -2e36f, 3e38f}) {
    attend::Options options;
    options.scale = 1.0f;
    attend::Query<Shape> large{};
    attend::Key<Shape> one{};
    for (auto& head : large[0]) head[0] = number / 2;
    for (auto& head : one[0]) head[0] = 1.0f;
    const auto value = filled<attend::Value<Shape>>(5);
    static attend::OptionWorkspace<Shape> work;
    attend::KvCache<Shape, float, typename Shape::Values> floats;
    attend::KvCache<Shape, int8, typename Shape::Values> bytes;
    REQUIRE(floats.append(one, value) == Status::ok);
    REQUIRE(bytes.append(one, value) == Status::ok);
    for_each_backend([&](const char*) {
      auto found = poisoned<attend::Output<Shape>>(), expected = filled<attend::Output<Shape>>(9);
      REQUIRE(attend::decode(large, bytes, found, work, options) == Status::ok);
      REQUIRE(attend::decode(large, floats, expected, work, options) == Status::ok);
      CHECK(same_array(found, expected));
    });
  }
}
