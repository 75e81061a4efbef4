// Caches of the C surface in other formats, and rings.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "../support/instance.h"
#include "../support/random.h"
#include "../support/rounds.h"
#include "attend/core/options.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, value_dim = 20;

attend_cache_shape shape_of(int max_tokens) {
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = value_dim, shape.max_tokens = max_tokens;
  return shape;
}

struct Tokens {
  std::vector<float> query, key, value;
  explicit Tokens(int count)
      : query(std::size_t(count * query_heads * head_dim)),
        key(std::size_t(count * kv_heads * head_dim)),
        value(std::size_t(count * kv_heads * value_dim)) {
    Random random(4);
    random.fill(query.data(), query.size());
    random.fill(key.data(), key.size());
    random.fill(value.data(), value.size());
  }
  attend_input keys(int first) const { return {key.data() + first * kv_heads * head_dim, 0, kv_heads * head_dim, head_dim}; }
  attend_input values(int first) const {
    return {value.data() + first * kv_heads * value_dim, 0, kv_heads * value_dim, value_dim};
  }
};

struct Cache {
  Aligned memory;
  attend_cache* head = nullptr;
  explicit Cache(const attend_cache_shape& shape) : memory(attend_cache_size(&shape)) {
    std::memset(memory.data(), 0xff, attend_cache_size(&shape));  // NaN
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &head) == ATTEND_OK);
  }
  attend_status append(const Tokens& tokens, int first, int count) {
    const attend_input keys = tokens.keys(first), values = tokens.values(first);
    return attend_cache_append(head, count, &keys, &values);
  }
};

// The last queries over a cache, or over arrays of all keys.
attend_problem problem_of(const Tokens& tokens, int first, int queries) {
  attend_problem p;
  REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = value_dim;
  p.queries = queries;
  p.options = ATTEND_CAUSAL;
  p.query.data = tokens.query.data() + first * query_heads * head_dim;
  return p;
}

std::vector<float> run(attend_problem p) {
  std::vector<float> output(std::size_t(p.queries * query_heads * value_dim), -7.0f);
  p.output.data = output.data();
  const attend_status status = run_with_exact_workspace(p);
  INFO(explain(status));
  REQUIRE(status == ATTEND_OK);
  return output;
}

std::vector<float> run_arrays(attend_problem p, const Tokens& tokens, int keys) {
  p.cache = nullptr;
  p.key = tokens.keys(0), p.value = tokens.values(0);
  p.keys = keys, p.offset = keys - p.queries;
  return run(p);
}

}  // namespace

TEST_CASE("c rings: a window over a ring has the bits of a window over all keys, whatever was appended at once") {
  const int count = 300;
  const Tokens tokens(count);
  int cases = 0;
  for_each_backend([&](const char* backend) {
    for (const int sink_tokens : {0, 4, 20}) {
      for (const int step : {1, 3, 7, 40}) {
        if (cases++ % stride() != 0) continue;
        const int window = 33;
        attend_cache_shape shape = shape_of(1000);
        shape.window_keys = window + step, shape.sink_tokens = sink_tokens;
        CHECK(attend_cache_size(&shape) < 200 * kv_heads * (head_dim + value_dim) * sizeof(float));
        Cache cache(shape);
        for (int first = 0; first + step <= count; first += step) {
          INFO(backend, " sink_tokens ", sink_tokens, " step ", step, " first ", first);
          REQUIRE(cache.append(tokens, first, step) == ATTEND_OK);
          attend_problem p = problem_of(tokens, first, step);
          p.window_left = window, p.sink_tokens = sink_tokens;
          p.cache = cache.head;
          REQUIRE(same_bits(run(p), run_arrays(p, tokens, first + step)));
        }
        CHECK(attend_cache_tokens(cache.head, nullptr) == count / step * step);
      }
    }
  });
}

TEST_CASE("c rings: without a capacity, positions go on to the last one there is") {
  attend_cache_shape shape = shape_of(0);
  CHECK(attend_cache_size(&shape) == 0);  // of a cache that keeps all tokens
  shape.window_keys = 17;
  const std::size_t bytes = attend_cache_size(&shape);
  Cache cache(shape);
  std::ptrdiff_t most = 0;
  CHECK(attend_cache_tokens(cache.head, &most) == 0);
  CHECK(most == ATTEND_MAX_TOKENS);
  shape.max_tokens = ATTEND_MAX_TOKENS;
  CHECK(attend_cache_size(&shape) == bytes);
}

TEST_CASE("c rings: keys that are lost are refused, those that are held are not") {
  const Tokens tokens(200);
  attend_cache_shape shape = shape_of(1000);
  shape.window_keys = 17, shape.sink_tokens = 5;  // 2 groups, and 1
  Cache cache(shape);
  attend_problem p = problem_of(tokens, 0, 1);
  float output[query_heads * value_dim], scores[query_heads * 200];
  p.output.data = output;
  p.cache = cache.head;
  REQUIRE(cache.append(tokens, 0, 48) == ATTEND_OK);
  CHECK(attend_check(&p) == ATTEND_OK);  // 16 sink tokens, and 32 in the ring: all there are
  CHECK(same_bits(run(p), run_arrays(p, tokens, 48)));
  REQUIRE(cache.append(tokens, 48, 1) == ATTEND_OK);
  CHECK(attend_check(&p) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE));
  p.window_left = 16;
  CHECK(attend_check(&p) == ATTEND_OK);
  p.window_left = 17;
  CHECK(attend_check(&p) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE));
  p.window_left = 16, p.sink_tokens = 16;
  CHECK(attend_check(&p) == ATTEND_OK);
  p.sink_tokens = 17;
  CHECK(attend_check(&p) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE));
  p.sink_tokens = 16;
  p.scores = {scores, 0, 0, 0, 200, ATTEND_SCORES_BIASED};
  p.scores.head_stride = 200;
  CHECK(attend_check(&p) == ATTEND_OK);
  for (const int stage : {ATTEND_SCORES_RAW, ATTEND_SCORES_CAPPED}) {
    p.scores.stage = stage;
    CHECK(attend_check(&p) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE));
  }
  p.scores = problem_of(tokens, 0, 1).scores;
  REQUIRE(attend_cache_truncate(cache.head, 40) == ATTEND_OK);
  CHECK(attend_check(&p) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE));  // 24 ... are asked for, 32 ... are held
  p.batch = 0;
  CHECK(attend_check(&p) == ATTEND_OK);
  p.batch = ATTEND_DEFAULT_BATCH, p.window_left = 7;
  CHECK(attend_check(&p) == ATTEND_OK);
  REQUIRE(attend_cache_truncate(cache.head, 0) == ATTEND_OK);
  p.window_left = ATTEND_NO_LIMIT, p.sink_tokens = 0;
  REQUIRE(cache.append(tokens, 0, 3) == ATTEND_OK);
  CHECK(same_bits(run(p), run_arrays(p, tokens, 3)));
  CHECK(cache.append(tokens, 0, 998) == wrong(ATTEND_FULL, ATTEND_ARG_CACHE));
}

TEST_CASE("c rings: a window past the keys does not let lost keys in, and states see what a whole call sees") {
  const int count = 500, sink_tokens = 50;
  const Tokens tokens(count);
  attend_cache_shape shape = shape_of(20000);
  shape.window_keys = 58, shape.sink_tokens = sink_tokens;
  Cache cache(shape);
  for (int first = 0; first < count; first += 10) REQUIRE(cache.append(tokens, first, 10) == ATTEND_OK);
  attend_problem p = problem_of(tokens, 0, 1);
  float output[query_heads * value_dim];
  p.output.data = output;
  p.cache = cache.head;
  p.window_left = 3, p.sink_tokens = 450, p.offset = 1000000;
  CHECK(attend_check(&p) == wrong(ATTEND_LOST, ATTEND_ARG_CACHE));
  p.sink_tokens = sink_tokens;
  CHECK(attend_check(&p) == ATTEND_OK);

  // Only some of the tokens that the ring has taken, and in several calls.
  p.window_left = 20, p.offset = count - 1;
  attend_problem plain = p;
  plain.cache = nullptr;
  plain.key = tokens.keys(0), plain.value = tokens.values(0);
  for (const int keys : {9, 64, 485, count}) {
    p.keys = plain.keys = keys;
    REQUIRE(same_bits(run(p), run(plain)));
  }
  std::vector<float> state(attend_state_size(&p) / sizeof(float));
  p.states = state.data();
  REQUIRE(attend_begin(&p) == ATTEND_OK);
  for (int done = 0; done < count; done += 20) {
    p.first_key = done, p.keys = done + 20;
    const std::size_t bytes = attend_workspace_size(&p);
    Aligned memory(bytes);
    REQUIRE(attend_run(&p, memory.data(), bytes) == ATTEND_OK);
  }
  std::vector<float> found(query_heads * value_dim);
  p.output.data = found.data();
  REQUIRE(attend_finish(&p) == ATTEND_OK);
  CHECK(same_bits(found, run(plain)));
}

TEST_CASE("c pages: those that every window has left behind may be gone, others may not") {
  const int count = 64, page = 16;
  const Tokens tokens(count);
  std::vector<std::int32_t> table = {0, 1, 2, 3};
  attend_problem p = problem_of(tokens, 0, 2);
  p.batch = 1;
  p.window_left = 20, p.sink_tokens = 3, p.offset = count - 2;  // 42 ... are seen, and the first three
  p.key = tokens.keys(0), p.value = tokens.values(0);
  p.keys = count;
  p.pages.table = table.data(), p.pages.page_keys = page, p.pages.count = 4;
  const std::vector<float> expected = run(p);
  table[1] = -1;
  CHECK(same_bits(run(p), expected));
  float output[2 * query_heads * value_dim];
  p.output.data = output;
  for (const std::size_t needed : {0u, 2u, 3u}) {
    std::vector<std::int32_t> broken = table;
    broken[needed] = -1;
    p.pages.table = broken.data();
    CHECK(attend_check(&p) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES));
  }
  p.pages.table = table.data(), p.window_left = 31;  // 31 is of the page that is gone
  CHECK(attend_check(&p) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PAGES));
}

TEST_CASE("c surface: soft caps within their limits") {
  const Tokens tokens(4);
  attend_problem p = problem_of(tokens, 0, 4);
  p.key = tokens.keys(0), p.value = tokens.values(0);
  p.keys = 4;
  float output[4 * query_heads * value_dim];
  p.output.data = output;
  for (const float cap : {0.0f, 1e-30f, 50.0f, 1e30f}) {
    p.soft_cap = cap;
    CHECK(attend_check(&p) == ATTEND_OK);
  }
}

TEST_CASE("c caches: halves, bfloats and bytes have the bits of the core's caches, and are near") {
  const int count = 70;
  const Tokens tokens(count);
  attend_cache_shape floats = shape_of(count);
  Cache exact(floats);
  REQUIRE(exact.append(tokens, 0, count) == ATTEND_OK);
  for (int key_format = 0; key_format <= 3; ++key_format) {
    for (int value_format = 0; value_format <= 3; ++value_format) {
      INFO("formats ", key_format, " ", value_format);
      attend_cache_shape shape = floats;
      shape.key_format = key_format, shape.value_format = value_format;
      if (key_format != 0 && value_format != 0) CHECK(attend_cache_size(&shape) < attend_cache_size(&floats) * 3 / 4);
      Cache cache(shape);
      REQUIRE(cache.append(tokens, 0, 33) == ATTEND_OK);
      REQUIRE(cache.append(tokens, 33, count - 33) == ATTEND_OK);
      attend_problem p = problem_of(tokens, 60, 10);
      p.cache = exact.head;
      const std::vector<float> wanted = run(p);
      p.cache = cache.head;
      const std::vector<float> output = run(p);
      double worst = 0.0;
      for (std::size_t i = 0; i < output.size(); ++i) {
        worst = std::max(worst, double(output[i] > wanted[i] ? output[i] - wanted[i] : wanted[i] - output[i]));
      }
      CHECK(worst < 0.02);
      if (key_format + value_format > 0) CHECK(worst > 0.0);

      // As the core has it.
      using attend::core::Format;
      const auto k = Format(key_format), v = Format(value_format);
      std::vector<float> keys(attend::core::format_cache_key_bytes(k, kv_heads, head_dim, count) / 4);
      std::vector<float> values(attend::core::format_cache_value_bytes(v, kv_heads, value_dim, count) / 4);
      std::vector<float> key_scales(attend::core::format_cache_rows(kv_heads, count)), value_scales = key_scales;
      const attend::core::FormatCache core = {
          keys.data(), values.data(), key_scales.data(), value_scales.data(), k, v, kv_heads, head_dim, value_dim, count, {}};
      attend::core::store(core, 0, count, {tokens.key.data(), kv_heads * head_dim, head_dim},
                          {tokens.value.data(), kv_heads * value_dim, value_dim});
      const int slots = attend::core::panel_count(count) * 16;
      std::vector<float> expected(output.size());
      attend::core::Problem q{};
      q.query = {tokens.query.data() + 60 * query_heads * head_dim, query_heads * head_dim, head_dim};
      q.output = {expected.data(), query_heads * value_dim, value_dim};
      q.key = {keys.data(), 0, slots * head_dim}, q.value = {values.data(), value_dim, slots * value_dim};
      q.query_heads = query_heads, q.kv_heads = kv_heads, q.head_dim = head_dim, q.value_dim = value_dim;
      q.queries = 10, q.keys = count, q.offset = 60, q.scale = attend::core::usual_scale(head_dim);
      q.causal = q.key_panels = true;
      q.row_block = 20, q.key_block = 64;
      Aligned scratch(sizeof(float) * attend::core::option_scratch_floats(20, 64, head_dim, value_dim));
      q.scratch = static_cast<float*>(scratch.data());
      attend::core::Options o;
      o.key_format = k, o.value_format = v;
      if (k == Format::int8) o.key_scales = key_scales.data(), o.key_scale_stride = slots;
      if (v == Format::int8) o.value_scales = value_scales.data(), o.value_scale_stride = slots;
      attend::core::Floats::run(q, o);
      CHECK(same_bits(output, expected));
    }
  }
}
