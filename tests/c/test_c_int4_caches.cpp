// Caches of 4 bits in the C surface: the bits of a cache that holds the numbers which theirs stand for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "../support/instance.h"
#include "../support/number_formats.h"
#include "../support/random.h"
#include "attend/c/layers.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int query_heads = 6, kv_heads = 2, head_dim = 64, value_dim = 32, tokens = 150;

// Rows of floats, and what they become in 4 bits, by the conversion of weights.
struct Rows {
  std::vector<float> exact, rounded;

  Rows(int width, std::uint64_t seed) : exact(std::size_t(tokens * kv_heads * width)), rounded(exact.size()) {
    Random random(seed);
    random.fill(exact.data(), exact.size(), 2.0f);
    Numbers groups(Format::int4, exact.size());
    attend_weights rows{}, converted;
    rows.data = exact.data(), rows.outputs = tokens * kv_heads, rows.inputs = width, rows.format = ATTEND_FLOAT32;
    REQUIRE(attend_convert_weights(&rows, ATTEND_INT4, groups.data(), groups.bytes(), nullptr, &converted) == ATTEND_OK);
    for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] = groups.get(i);
  }
  const std::vector<float>& of(int format) const { return format == ATTEND_INT4 ? rounded : exact; }
};

attend_input input(const std::vector<float>& rows, int width, int first) {
  return {rows.data() + first * kv_heads * width, 0, kv_heads * width, width};
}

struct Cache {
  Aligned memory;
  attend_cache* head = nullptr;

  explicit Cache(const attend_cache_shape& shape) : memory(attend_cache_size(&shape)) {
    std::memset(memory.data(), 0xff, attend_cache_size(&shape));
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &head) == ATTEND_OK);
  }
  void append(const std::vector<float>& key, const std::vector<float>& value, int first, int count) {
    const attend_input keys = input(key, head_dim, first), values = input(value, value_dim, first);
    REQUIRE(attend_cache_append(head, count, &keys, &values) == ATTEND_OK);
  }
};

}  // namespace

TEST_CASE("c int4 caches: the bits of numbers that they stand for, plain and in rings, for prefill, parts and decode") {
  const Rows key(head_dim, 1), value(value_dim, 2);
  std::vector<float> query(std::size_t(tokens * query_heads * head_dim));
  Random(3).fill(query.data(), query.size());
  for_each_backend([&](const char* backend) {
    for (const bool ring : {false, true}) {
      for (const auto& formats : {std::pair<int, int>{5, 5}, {5, 0}, {0, 5}, {3, 5}}) {
        INFO(backend, ring ? " ring " : " ", formats.first, " ", formats.second);
        attend_cache_shape shape;
        REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
        shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = value_dim, shape.max_tokens = tokens;
        if (ring) shape.window_keys = 60, shape.sink_tokens = 3;
        attend_cache_shape of_numbers = shape;
        shape.key_format = formats.first, shape.value_format = formats.second;
        of_numbers.key_format = formats.first == ATTEND_INT4 ? ATTEND_FLOAT32 : formats.first;
        of_numbers.value_format = formats.second == ATTEND_INT4 ? ATTEND_FLOAT32 : formats.second;
        Cache cache(shape), numbers(of_numbers);
        for (int first = 0, count = 7; first < tokens; first += count) {
          count = std::min(count + 3, tokens - first);
          cache.append(key.exact, value.exact, first, count);
          numbers.append(key.of(formats.first), value.of(formats.second), first, count);
          attend_problem p;
          REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
          p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = value_dim;
          p.queries = first % 2 == 0 ? 1 : std::min(count, 9);
          p.options = ATTEND_CAUSAL;
          if (ring) p.window_left = 40, p.sink_tokens = 3;
          p.query.data = query.data() + first * query_heads * head_dim;
          std::vector<float> found(std::size_t(p.queries * query_heads * value_dim), -7.0f), expected(found.size(), 7.0f);
          const int parts = first % 3 + 1;
          p.cache = cache.head, p.output.data = found.data();
          p.key_format = first % 5 == 0 ? ATTEND_DEFAULT_FORMAT : formats.first;
          for (int part = 0; part < parts; ++part) REQUIRE(run_with_exact_workspace(p, part, parts) == ATTEND_OK);
          p.key_format = ATTEND_DEFAULT_FORMAT;
          p.cache = numbers.head, p.output.data = expected.data();
          REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
          REQUIRE(same_bits(found, expected));
        }
      }
    }
  });
}

TEST_CASE("c int4 caches: 18 bytes for 32 numbers") {
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = 2, shape.head_dim = 64, shape.value_dim = 128, shape.max_tokens = 1600;
  shape.key_format = shape.value_format = ATTEND_INT4;
  attend_cache_shape halves = shape;
  halves.key_format = halves.value_format = ATTEND_FLOAT16;
  const std::size_t numbers = 1600 * 2 * (64 + 128), head = attend_cache_size(&halves) - 2 * numbers;
  CHECK(attend_cache_size(&shape) == head + numbers / 32 * 18);
  shape.head_dim = 48;
  CHECK(status_of(&shape) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM));
  shape.key_format = ATTEND_INT8;
  CHECK(status_of(&shape) == ATTEND_OK);
  shape.value_dim = 33;
  CHECK(status_of(&shape) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_VALUE_DIM));
}
