// Caches of ATTEND_IN_KEYS in the C surface: the bits of a cache that has whole keys for values, in memory once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../support/instance.h"
#include "../support/random.h"
#include "attend/c/layers.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int query_heads = 6, kv_heads = 2, head_dim = 36, value_dim = 20, tokens = 700;

attend_cache_shape shape_of(int key_format, int value_format, int values) {
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = values, shape.max_tokens = tokens;
  shape.key_format = key_format, shape.value_format = value_format;
  return shape;
}

struct Cache {
  Aligned memory;
  attend_cache* head = nullptr;
  bool in_keys;

  explicit Cache(const attend_cache_shape& shape)
      : memory(attend_cache_size(&shape)), in_keys(shape.value_format == ATTEND_IN_KEYS) {
    std::memset(memory.data(), 0xff, attend_cache_size(&shape));
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &head) == ATTEND_OK);
  }
  attend_status append(const std::vector<float>& rows, int first, int count) {
    const attend_input keys = {rows.data() + first * kv_heads * head_dim, 0, kv_heads * head_dim, head_dim};
    return attend_cache_append(head, count, &keys, in_keys ? nullptr : &keys);
  }
};

std::vector<float> drawn(int count, int width, std::uint64_t seed) {
  std::vector<float> made(std::size_t(count * width));
  Random(seed).fill(made.data(), made.size(), 2.0f);
  return made;
}

// The first value_dim of every `width` numbers.
std::vector<float> beginnings(const std::vector<float>& rows, int width) {
  std::vector<float> kept;
  for (std::size_t at = 0; at < rows.size(); at += std::size_t(width))
    kept.insert(kept.end(), &rows[at], &rows[at] + value_dim);
  return kept;
}

attend_problem problem_of(const Cache& cache, int queries, const float* query, int values, std::vector<float>& output) {
  attend_problem p;
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = values;
  p.queries = queries, p.options = ATTEND_CAUSAL;
  p.cache = cache.head, p.query.data = query;
  output.assign(std::size_t(queries * query_heads * values), -7.0f);
  p.output.data = output.data();
  return p;
}

}  // namespace

TEST_CASE("c in keys: the bits of whole keys for values, in every format, for prefill, parts, decode and states") {
  const std::vector<float> keys = drawn(tokens, kv_heads * head_dim, 1), query = drawn(9, query_heads * head_dim, 2);
  for_each_backend([&](const char* backend) {
    for (const int format : {ATTEND_FLOAT32, ATTEND_FLOAT16, ATTEND_BFLOAT16, ATTEND_INT8}) {
      INFO(backend, " ", format);
      Cache cache(shape_of(format, ATTEND_IN_KEYS, value_dim)), whole(shape_of(format, format, head_dim));
      for (int first = 0, count = 1; first < tokens; first += count) {
        count = first == 0 ? 1 : std::min(2 * count + 3, tokens - first);
        REQUIRE(cache.append(keys, first, count) == ATTEND_OK);
        REQUIRE(whole.append(keys, first, count) == ATTEND_OK);
        const int queries = std::min(first + 1, first % 2 == 0 ? 1 : 9), parts = first % 3 + 1;
        std::vector<float> found, expected;
        attend_problem p = problem_of(cache, queries, query.data(), value_dim, found);
        attend_problem of_whole = problem_of(whole, queries, query.data(), head_dim, expected);
        if (first % 3 == 1) p.window_left = of_whole.window_left = 40;
        for (int part = 0; part < parts; ++part) REQUIRE(run_with_exact_workspace(p, part, parts) == ATTEND_OK);
        REQUIRE(run_with_exact_workspace(of_whole) == ATTEND_OK);
        REQUIRE(same_bits(found, beginnings(expected, head_dim)));
      }
      std::vector<float> once, found;
      attend_problem p = problem_of(cache, 9, query.data(), value_dim, once);
      REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
      p = problem_of(cache, 9, query.data(), value_dim, found);
      p.offset = tokens - 9;
      Aligned states(attend_state_size(&p));
      p.states = states.data();
      REQUIRE(attend_begin(&p) == ATTEND_OK);
      for (const int end : {100, 512, tokens}) {
        p.keys = end;
        REQUIRE(run_with_exact_workspace(p) == ATTEND_OK);
        p.first_key = end;
      }
      REQUIRE(attend_finish(&p) == ATTEND_OK);
      CHECK(same_bits(found, once));
    }
  });
}

TEST_CASE("c in keys: keys are in memory once, and too large numbers are refused or saturated") {
  const auto bytes = [](int key_format, int value_format) {
    const attend_cache_shape shape = shape_of(key_format, value_format, value_dim);
    return attend_cache_size(&shape);
  };
  const std::size_t slots = kv_heads * ((tokens + 15) / 16 * 16),
                    head = bytes(ATTEND_FLOAT16, ATTEND_FLOAT16) - slots * 2 * (head_dim + value_dim);
  CHECK(bytes(ATTEND_FLOAT32, ATTEND_IN_KEYS) == head + slots * 4 * head_dim);
  CHECK(bytes(ATTEND_BFLOAT16, ATTEND_IN_KEYS) == head + slots * 2 * head_dim);
  CHECK(bytes(ATTEND_INT8, ATTEND_IN_KEYS) == head + slots * (head_dim + 4));
  std::vector<float> keys = drawn(2, kv_heads * head_dim, 3), query = drawn(1, query_heads * head_dim, 4), found, expected;
  Cache kept(shape_of(ATTEND_FLOAT16, ATTEND_IN_KEYS, value_dim)),
      limited(shape_of(ATTEND_FLOAT16 | ATTEND_SATURATED, ATTEND_IN_KEYS, value_dim));
  Cache other(shape_of(ATTEND_FLOAT16, ATTEND_IN_KEYS, value_dim));
  keys.back() = 65520.0f;
  CHECK(kept.append(keys, 0, 2) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_CACHE));
  CHECK(attend_cache_tokens(kept.head, nullptr) == 0);
  CHECK(limited.append(keys, 0, 2) == ATTEND_OK);
  keys.back() = 65504.0f;
  CHECK(other.append(keys, 0, 2) == ATTEND_OK);
  REQUIRE(run_with_exact_workspace(problem_of(limited, 1, query.data(), value_dim, found)) == ATTEND_OK);
  REQUIRE(run_with_exact_workspace(problem_of(other, 1, query.data(), value_dim, expected)) == ATTEND_OK);
  CHECK(same_bits(found, expected));
}

TEST_CASE("c in keys: what does not go with it") {
  attend_cache_shape shape = shape_of(ATTEND_INT4, ATTEND_IN_KEYS, value_dim);
  shape.head_dim = 64;
  CHECK(status_of(&shape) == wrong(ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT));
  shape.key_format = ATTEND_INT4 | ATTEND_SATURATED;
  CHECK(status_of(&shape) == wrong(ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT));
  shape = shape_of(ATTEND_FLOAT16, ATTEND_IN_KEYS, head_dim + 1);
  CHECK(status_of(&shape) == wrong(ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT));
  shape = shape_of(ATTEND_FLOAT16, ATTEND_IN_KEYS, value_dim);
  shape.window_keys = 40;
  CHECK(status_of(&shape) == wrong(ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT));
  shape = shape_of(ATTEND_FLOAT32, ATTEND_IN_KEYS, value_dim);
  shape.integers = 1;
  CHECK(status_of(&shape) == wrong(ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT));
  shape = shape_of(ATTEND_IN_KEYS, ATTEND_FLOAT32, value_dim);
  CHECK(status_of(&shape) == wrong(ATTEND_UNKNOWN, ATTEND_ARG_KEY_FORMAT));
  shape = shape_of(ATTEND_FLOAT32, ATTEND_IN_KEYS | ATTEND_SATURATED, value_dim);
  CHECK(status_of(&shape) == wrong(ATTEND_UNKNOWN, ATTEND_ARG_VALUE_FORMAT));

  const std::vector<float> keys = drawn(3, kv_heads * head_dim, 5), query = drawn(1, query_heads * head_dim, 6);
  std::vector<float> output;
  Cache cache(shape_of(ATTEND_FLOAT32, ATTEND_IN_KEYS, value_dim));
  const attend_input input = {keys.data(), 0, kv_heads * head_dim, head_dim};
  CHECK(attend_cache_append(cache.head, 3, &input, &input) == wrong(ATTEND_NO_EFFECT, ATTEND_ARG_VALUE));
  CHECK(attend_plain_cache_append(cache.head, 3, &input, nullptr) == wrong(ATTEND_UNAVAILABLE, ATTEND_ARG_CACHE));
  REQUIRE(cache.append(keys, 0, 3) == ATTEND_OK);
  attend_problem p = problem_of(cache, 1, query.data(), value_dim, output);
  p.value_format = ATTEND_FLOAT32;  // that of the keys
  CHECK(attend_check(&p) == ATTEND_OK);
  p.value_format = ATTEND_FLOAT16;
  CHECK(attend_check(&p) == wrong(ATTEND_CONFLICT, ATTEND_ARG_VALUE_FORMAT));
  p = problem_of(cache, 1, query.data(), value_dim, output);
  REQUIRE(attend_plain_problem_init(&p, sizeof p) == ATTEND_OK);
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = value_dim, p.queries = 1;
  p.cache = cache.head, p.query.data = query.data(), p.output.data = output.data();
  CHECK(attend_check(&p) == wrong(ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC));

  // A layer of one head, whose weights are all the same array.
  attend_cache_shape small = shape_of(ATTEND_FLOAT32, ATTEND_IN_KEYS, 4);
  small.kv_heads = 1, small.head_dim = 4;
  Cache latents(small);
  attend_layer layer;
  REQUIRE(attend_layer_init(&layer, sizeof layer) == ATTEND_OK);
  const std::vector<float> weights(16, 0.5f);
  for (attend_weights* each : {&layer.query, &layer.key, &layer.value, &layer.output}) {
    each->data = weights.data(), each->outputs = each->inputs = 4, each->format = ATTEND_FLOAT32;
  }
  layer.cache = latents.head;
  Aligned work(1 << 16);
  CHECK(attend_project_memory(&layer, keys.data(), 1, work.data(), 1 << 16) == wrong(ATTEND_CONFLICT, ATTEND_ARG_CACHE));
  std::vector<float> y(4);
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.query_heads = p.kv_heads = 1, p.head_dim = p.value_dim = 4, p.queries = 1;
  CHECK(attend_self_attention(&p, &layer, keys.data(), y.data(), work.data(), 1 << 16) ==
        wrong(ATTEND_CONFLICT, ATTEND_ARG_CACHE));
}
