// The cache of the C surface: the bits of KvCache, whatever way it was filled.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/instance.h"
#include "attend/attend.h"
#include "attend/attend_c.h"
#include "c_run.h"

using namespace attend_test;

namespace {

struct Wake {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, value_dim = 20, max_tokens = 530;
};

attend_cache_shape shape_of(int kv_heads, int head_dim, int value_dim, int max_tokens) {
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = kv_heads, shape.head_dim = head_dim, shape.value_dim = value_dim, shape.max_tokens = max_tokens;
  return shape;
}

struct alignas(ATTEND_ALIGNMENT) Line {
  unsigned char bytes[ATTEND_ALIGNMENT];
};
std::vector<Line> lines(std::size_t bytes) {
  Line filled;
  std::memset(filled.bytes, 0xff, sizeof filled.bytes);  // floats that are NaN
  return std::vector<Line>((bytes + sizeof(Line) - 1) / sizeof(Line), filled);
}

constexpr int tokens = Wake::max_tokens;

// One of everything for both surfaces, with the same tokens.
struct Both {
  attend::Query<Wake, tokens> query;
  attend::Key<Wake, tokens> key;
  attend::Value<Wake, tokens> value;
  attend::KvCache<Wake> typed;
  attend_cache_shape shape = shape_of(Wake::kv_heads, Wake::head_dim, Wake::value_dim, Wake::max_tokens);
  std::vector<Line> memory = lines(attend_cache_size(&shape));
  attend_cache* cache = nullptr;

  Both() {
    Random random(3);
    random.fill(query.data[0][0], sizeof query / sizeof(float));
    random.fill(key.data[0][0], sizeof key / sizeof(float));
    random.fill(value.data[0][0], sizeof value / sizeof(float));
    REQUIRE(attend_cache_size(&shape) > 0);
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &cache) == ATTEND_OK);
    CHECK(static_cast<void*>(cache) == static_cast<void*>(memory.data()));
    CHECK(attend_cache_tokens(cache, nullptr) == 0);
    std::ptrdiff_t most = 0;
    CHECK(attend_cache_tokens(cache, &most) == 0);
    CHECK(most == tokens);
  }

  attend_status append(int first, int count) {
    const attend_input keys = {key.data[first][0], 0, Wake::kv_heads * Wake::head_dim, Wake::head_dim};
    const attend_input values = {value.data[first][0], 0, Wake::kv_heads * Wake::value_dim, Wake::value_dim};
    return attend_cache_append(cache, count, &keys, &values);
  }

  attend_problem problem(int first, int count, float* output) const {
    attend_problem p;
    attend_problem_init(&p, sizeof p);
    p.query_heads = Wake::query_heads, p.kv_heads = Wake::kv_heads;
    p.head_dim = Wake::head_dim, p.value_dim = Wake::value_dim;
    p.queries = count;
    p.query.data = query.data[first][0];
    p.output.data = output;
    p.cache = cache;
    return p;
  }
};

}  // namespace

TEST_CASE("c cache: filled in chunks or by tokens it decodes and prefills like a KvCache") {
  for_each_backend([](const char* backend) {
    INFO(backend);
    Both both;
    const std::size_t row = Wake::query_heads * Wake::value_dim;
    std::vector<float> output(row * tokens);
    std::vector<Line> workspace;
    std::size_t decode_bytes = 0;
    int held = 0;
    for (const int count : {1, 1, 30, 1, 60, 1, 418, 17, 1}) {
      REQUIRE(both.append(held, count) == ATTEND_OK);
      attend::Key<Wake, tokens> key;
      attend::Value<Wake, tokens> value;
      std::memcpy(&key, both.key.data[held], std::size_t(count) * sizeof key[0]);
      std::memcpy(&value, both.value.data[held], std::size_t(count) * sizeof value[0]);
      REQUIRE(both.typed.append(key, value, count) == attend::Status::ok);
      held += count;
      CHECK(attend_cache_tokens(both.cache, nullptr) == held);

      attend_problem p = both.problem(held - count, count, output.data());
      p.options = ATTEND_CAUSAL;
      const std::size_t bytes = attend_workspace_size(&p);
      REQUIRE(bytes > 0);
      if (count == 1) {  // by capacity, so that one workspace serves for all of a cache's life
        if (decode_bytes == 0) decode_bytes = bytes;
        CHECK(bytes == decode_bytes);
      }
      workspace = lines(bytes);
      REQUIRE(attend_run(&p, workspace.data(), bytes) == ATTEND_OK);

      static attend::Workspace<Wake, tokens> work;
      attend::Query<Wake, tokens> query;
      static attend::Output<Wake, tokens> expected;
      std::memcpy(&query, both.query.data[held - count], std::size_t(count) * sizeof query[0]);
      attend::Options options = attend::causal();
      options.query_length = count;
      REQUIRE(attend::prefill(query, both.typed, expected, work, options) == attend::Status::ok);
      CHECK(std::memcmp(output.data(), &expected, std::size_t(count) * row * sizeof(float)) == 0);
      if (count == 1) {
        attend::Query<Wake> token;
        attend::Output<Wake> decoded;
        std::memcpy(&token, &query, sizeof token);
        REQUIRE(attend::decode(token, both.typed, decoded) == attend::Status::ok);
        CHECK(std::memcmp(output.data(), &decoded, sizeof decoded) == 0);
      }
    }
    CHECK(held == tokens);
    CHECK(both.append(0, 1) == wrong(ATTEND_FULL, ATTEND_ARG_CACHE));
    CHECK(both.append(0, 0) == ATTEND_OK);
    CHECK(attend_cache_tokens(both.cache, nullptr) == tokens);
  });
}

TEST_CASE("c cache: some of its keys, an offset of one's own, key lengths, parts") {
  Both both;
  REQUIRE(both.append(0, 100) == ATTEND_OK);
  attend::Key<Wake, 100> key;
  attend::Value<Wake, 100> value;
  std::memcpy(&key, &both.key, sizeof key);
  std::memcpy(&value, &both.value, sizeof value);
  REQUIRE(both.typed.append(key, value) == attend::Status::ok);
  attend::Query<Wake, 9> query;
  std::memcpy(&query, &both.query, sizeof query);
  static attend::Workspace<Wake, 9> work;
  attend::Output<Wake, 9> expected, output;
  std::vector<Line> workspace;
  const std::ptrdiff_t length = 33;
  for (const int variant : {0, 1, 2, 3}) {
    INFO(variant);
    attend_problem p = both.problem(0, 9, output.data[0][0]);
    attend::Options options;
    options.causal = false;
    if (variant == 1) p.keys = 40, options.key_length = 40;
    if (variant == 2) p.options = ATTEND_CAUSAL, p.offset = -4, options = attend::causal(-4);
    if (variant == 3) p.keys = 40, p.key_lengths = &length, p.options = ATTEND_CAUSAL, options = attend::causal();
    if (variant == 3) options.key_length = 33;
    REQUIRE(attend::prefill(query, both.typed, expected, work, options) == attend::Status::ok);
    const std::size_t bytes = attend_workspace_size(&p);
    workspace = lines(bytes);
    for (const int parts : {1, 4}) {
      std::memset(&output, 0xff, sizeof output);
      for (int part = 0; part < parts; ++part) {
        REQUIRE(attend_run_part(&p, part, parts, workspace.data(), bytes) == ATTEND_OK);
      }
      CHECK(std::memcmp(&output, &expected, sizeof output) == 0);
    }
  }
}

TEST_CASE("c cache: tokens from any strides; truncated, reset, moved") {
  Both both;
  // [head][token][dim], tokens backwards, one float off
  const int count = 20;
  std::vector<float> keys(1 + Wake::kv_heads * count * Wake::head_dim), values(1 + Wake::kv_heads * count * Wake::value_dim);
  for (int h = 0; h < Wake::kv_heads; ++h)
    for (int t = 0; t < count; ++t) {
      std::memcpy(&keys[std::size_t(1 + (h * count + count - 1 - t) * Wake::head_dim)], both.key[t][h], sizeof both.key[t][h]);
      std::memcpy(&values[std::size_t(1 + (h * count + count - 1 - t) * Wake::value_dim)], both.value[t][h],
                  sizeof both.value[t][h]);
    }
  const attend_input key = {&keys[1 + (count - 1) * Wake::head_dim], 0, -Wake::head_dim, count * Wake::head_dim};
  const attend_input value = {&values[1 + (count - 1) * Wake::value_dim], 0, -Wake::value_dim, count * Wake::value_dim};
  REQUIRE(attend_cache_append(both.cache, count, &key, &value) == ATTEND_OK);
  const std::vector<Line> strided = both.memory;
  REQUIRE(attend_cache_truncate(both.cache, 0) == ATTEND_OK);
  CHECK(attend_cache_tokens(both.cache, nullptr) == 0);
  REQUIRE(both.append(0, count) == ATTEND_OK);
  CHECK(std::memcmp(strided.data(), both.memory.data(), strided.size() * sizeof(Line)) == 0);

  // Back to 7 tokens and on: as if the others had never been there.
  REQUIRE(attend_cache_truncate(both.cache, 7) == ATTEND_OK);
  CHECK(attend_cache_tokens(both.cache, nullptr) == 7);
  CHECK(attend_cache_truncate(both.cache, 8) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_TOKENS));
  CHECK(attend_cache_truncate(both.cache, -1) == wrong(ATTEND_OUT_OF_RANGE, ATTEND_ARG_TOKENS));
  REQUIRE(both.append(7, count - 7) == ATTEND_OK);
  CHECK(std::memcmp(strided.data(), both.memory.data(), strided.size() * sizeof(Line)) == 0);

  // Elsewhere, as bytes.
  std::vector<Line> moved = both.memory;
  CHECK(attend_cache_tokens(reinterpret_cast<const attend_cache*>(moved.data()), nullptr) == count);
}

TEST_CASE("c cache: bits that flip in its head are seen, one or two") {
  Both both;
  REQUIRE(both.append(0, 5) == ATTEND_OK);
  const auto flip = [&](int bit) { both.memory[0].bytes[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8); };
  constexpr int bits = 28 * 8;
  int unseen = 0;
  for (int bit = 0; bit < bits; ++bit) {
    flip(bit);
    INFO(bit);
    CHECK(attend_cache_tokens(both.cache, nullptr) == -1);
    CHECK(both.append(5, 1) == wrong(ATTEND_CORRUPT, ATTEND_ARG_CACHE));
    CHECK(attend_cache_truncate(both.cache, 0) == wrong(ATTEND_CORRUPT, ATTEND_ARG_CACHE));
    for (int other = bit + 1; other < bits; ++other) {
      flip(other);
      unseen += attend_cache_tokens(both.cache, nullptr) != -1;
      flip(other);
    }
    flip(bit);
  }
  CHECK(unseen == 0);
  CHECK(attend_cache_tokens(both.cache, nullptr) == 5);
}

TEST_CASE("c cache: no tokens need no keys, and an empty cache gives zeros where the call says that there are none") {
  Both both;
  CHECK(attend_cache_append(both.cache, 0, nullptr, nullptr) == ATTEND_OK);
  std::vector<float> output(2 * Wake::query_heads * Wake::value_dim, 7.0f);
  attend_problem p = both.problem(0, 2, output.data());
  const std::size_t bytes = attend_workspace_size(&p);
  std::vector<Line> workspace = lines(bytes);
  CHECK(attend_run(&p, workspace.data(), bytes) == wrong(ATTEND_AMBIGUOUS, ATTEND_ARG_KEYS));
  CHECK(output[0] == 7.0f);
  p.keys = 0;
  REQUIRE(attend_run(&p, workspace.data(), bytes) == ATTEND_OK);
  for (const float zero : output) CHECK(zero == 0.0f);
  p.options = ATTEND_CAUSAL;
  CHECK(attend_check(&p) == wrong(ATTEND_AMBIGUOUS, ATTEND_ARG_OFFSET));
  p.offset = 0;
  CHECK(attend_check(&p) == ATTEND_OK);
}

TEST_CASE("c cache: work memory never shrinks with more queries") {
  for (const int max_tokens : {1, 64, 65, 512, 513, 2000}) {
    const attend_cache_shape shape = shape_of(1, 5, 9, max_tokens);
    std::vector<Line> memory = lines(attend_cache_size(&shape));
    attend_cache* cache = nullptr;
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &cache) == ATTEND_OK);
    std::vector<float> floats(100 * 20);
    std::size_t last = 0;
    for (int queries = 1; queries < 100; ++queries) {
      attend_problem p;
      attend_problem_init(&p, sizeof p);
      p.query_heads = p.kv_heads = 1, p.head_dim = 5, p.value_dim = 9, p.queries = queries;
      p.query.data = floats.data(), p.output.data = floats.data() + 1000, p.cache = cache;
      const std::size_t bytes = attend_workspace_size(&p);
      REQUIRE(bytes > 0);
      REQUIRE(bytes >= last);
      last = bytes;
    }
  }
}

TEST_CASE("c cache: states are not finished into the cache that they come from") {
  const attend_cache_shape shape = shape_of(1, 5, 5, 64);
  std::vector<Line> memory = lines(attend_cache_size(&shape));
  attend_cache* cache = nullptr;
  REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &cache) == ATTEND_OK);
  std::vector<float> floats(100);
  const attend_input input = {floats.data(), 0, 5, 5};
  REQUIRE(attend_cache_append(cache, 3, &input, &input) == ATTEND_OK);
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  p.query_heads = p.kv_heads = 1, p.head_dim = p.value_dim = 5, p.queries = 1;
  p.query.data = floats.data(), p.output.data = floats.data() + 50, p.cache = cache;
  std::vector<Line> states = lines(attend_state_size(&p));
  p.states = states.data();
  std::vector<Line> workspace = lines(attend_workspace_size(&p));
  REQUIRE(attend_begin(&p) == ATTEND_OK);
  REQUIRE(attend_run(&p, workspace.data(), workspace.size() * sizeof(Line)) == ATTEND_OK);
  p.output.data = memory.data();
  CHECK(attend_finish(&p) == wrong(ATTEND_OVERLAP, ATTEND_ARG_OUTPUT));
  CHECK(attend_cache_tokens(cache, nullptr) == 3);
  p.output.data = floats.data() + 50;
  CHECK(attend_finish(&p) == ATTEND_OK);
}
