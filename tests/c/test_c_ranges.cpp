// Packed documents and ranges in the C surface: the bits of separate calls and of masks, in floats and in integers, and in
// layers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../support/random.h"
#include "../support/rounds.h"
#include "attend/c/layers.h"
#include "c_integer_world.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int most_tokens = 640;

// A problem of one sequence in integers or in floats, and memory for its arrays.
struct Sequence {
  Sequence(Random& random, bool integers_, int tokens) : integers(integers_), constants() {
    integers ? attend_integer_problem_init(&p, sizeof p) : attend_problem_init(&p, sizeof p);
    p.layout = random.between(0, 1);
    p.kv_heads = random.between(1, 2), p.query_heads = p.kv_heads * random.between(1, 2);
    p.head_dim = random.between(1, 20), p.value_dim = random.between(1, 20);
    p.queries = p.keys = tokens;
    p.options = random.between(0, 1) == 0 ? ATTEND_CAUSAL : 0u;
    if (random.between(0, 1) == 0) p.window_left = random.between(0, 30), p.sink_tokens = random.between(0, 3);
    if (random.between(0, 2) == 0) p.window_right = random.between(0, 30);
    constants = prepared(integer_scales(), int(p.head_dim));
    if (integers) p.constants = &constants;
    for (auto* numbers : {&query, &key, &value}) {
      numbers->resize(std::size_t(tokens) * 4 * 20);
      random.fill(numbers->data(), numbers->size(), 1.0f);
      if (!integers) continue;
      const std::vector<std::int8_t> bytes = random_bytes(numbers->size(), random);
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::int8_t*>(numbers->data()));
    }
    output.assign(query.size(), -7.0f);
    mask.resize(std::size_t(tokens) * std::size_t(tokens));
    for (std::uint8_t& shown : mask) shown = random.between(0, 9) > 0;
    if (random.between(0, 1) == 0) p.mask = {mask.data(), 0, 0, tokens, tokens, ATTEND_MASK_BYTES};
    p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data(), p.output.data = output.data();
  }

  // Tokens first … first + count - 1 as a problem of their own.
  attend_problem part(int first, int count) const {
    attend_problem one = p;
    const bool heads_first = p.layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
    const auto move = [&](auto& tensor, std::ptrdiff_t heads, std::ptrdiff_t dim) {
      tensor.token_stride = heads_first ? dim : heads * dim;
      tensor.head_stride = heads_first ? dim * p.queries : dim;
      tensor.batch_stride = 0;
      const std::ptrdiff_t bytes = first * tensor.token_stride * (integers ? 1 : 4);
      const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(tensor.data) + std::uintptr_t(bytes);
      tensor.data = reinterpret_cast<decltype(tensor.data)>(at);
    };
    one.layout = ATTEND_BATCH_TOKEN_HEAD_DIM;
    move(one.query, p.query_heads, p.head_dim), move(one.output, p.query_heads, p.value_dim);
    move(one.key, p.kv_heads, p.head_dim), move(one.value, p.kv_heads, p.value_dim);
    one.queries = one.keys = count;
    if (p.mask.data != nullptr) {
      one.mask.data = mask.data() + first * p.mask.query_stride + first;
      one.mask.keys = count;
    }
    return one;
  }

  bool integers;
  attend_problem p;
  attend_integer_constants constants;
  std::vector<float> query, key, value, output;
  std::vector<std::uint8_t> mask;
};

// By their bytes, because integers lie in them too.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

attend_status run(const attend_problem& problem, int part = 0, int parts = 1) {
  return run_with_exact_workspace(problem, part, parts);
}

}  // namespace

TEST_CASE("c documents: each has the bits of a call of its own, with masks and windows, in floats and in integers") {
  for (const int seed : each_round(120)) {
    Random random(std::uint64_t(seed) + 900);
    std::vector<std::int32_t> boundaries = {0};
    const int count = random.between(1, 6);
    for (int d = 0; d < count; ++d) {
      const int length = random.between(0, 9) == 0 ? random.between(500, 530) : random.between(0, 40);
      boundaries.push_back(std::min(most_tokens, boundaries.back() + length));
    }
    if (boundaries.back() == 0) continue;
    Sequence s(random, seed % 2 == 0, boundaries.back());
    std::vector<float> expected = s.output;
    INFO(seed, " tokens ", boundaries.back());
    for (std::size_t d = 0; d + 1 < boundaries.size(); ++d) {
      REQUIRE(run(s.part(boundaries[d], boundaries[d + 1] - boundaries[d])) == ATTEND_OK);
    }
    std::swap(expected, s.output);
    s.p.documents = {boundaries.data(), count};
    s.p.output.data = s.output.data();
    REQUIRE(run(s.p) == ATTEND_OK);
    CHECK(same(s.output, expected));
    std::fill(s.output.begin(), s.output.end(), -7.0f);
    for (int part = 0; part < 3; ++part) REQUIRE(run(s.p, part, 3) == ATTEND_OK);
    CHECK(same(s.output, expected));
    if (s.integers) continue;
    std::vector<float> scores(std::size_t(s.p.queries * s.p.query_heads * s.p.keys));
    s.p.scores = {scores.data(), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE, ATTEND_ALL_KEYS, ATTEND_SCORES_RAW};
    CHECK(attend_workspace_size(&s.p) == 0);
    CHECK(same(s.output, expected));
  }
}

TEST_CASE("c ranges: in integers, over arrays and a cache, with one list or both, they have the bits of a mask") {
  for (const int seed : each_round(60)) {
    Random random(std::uint64_t(seed) + 950);
    const int tokens = random.between(1, 90);
    Sequence s(random, true, tokens);
    s.p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM;
    std::vector<std::int32_t> first, end;
    const int kind = random.between(0, 2), size = random.between(1, 20);
    for (int i = 0; i < tokens; ++i) {
      first.push_back(kind == 0 ? i / size * size : kind == 1 ? std::max(0, i - size) : random.between(0, tokens));
      end.push_back(kind == 2 ? first.back() + random.between(0, size) : std::max(i + 1, i / size * size + size / 2));
    }
    const bool has_first = seed % 3 != 0, has_end = seed % 3 != 1;
    attend_problem masked = s.p;
    masked.mask = {s.mask.data(), 0, 0, tokens, tokens, ATTEND_MASK_BYTES};
    const std::vector<std::uint8_t> shown = s.mask;
    for (int i = 0; i < tokens; ++i) {
      for (int j = 0; j < tokens; ++j) {
        const bool sees = (!has_first || j >= first[std::size_t(i)]) && (!has_end || j < end[std::size_t(i)]);
        std::uint8_t& element = s.mask[std::size_t(i * tokens + j)];
        element = sees && (s.p.mask.data == nullptr || element != 0);
      }
    }
    REQUIRE(run(masked) == ATTEND_OK);
    const std::vector<float> expected = s.output;
    s.mask = shown;
    if (s.p.mask.data != nullptr) s.p.mask.data = s.mask.data();
    s.p.ranges = {has_first ? first.data() : nullptr, has_end ? end.data() : nullptr, ATTEND_DENSE};
    if (!has_first && !has_end) continue;
    std::fill(s.output.begin(), s.output.end(), -7.0f);
    INFO(seed, " tokens ", tokens);
    REQUIRE(run(s.p) == ATTEND_OK);
    CHECK(same(s.output, expected));
    if (s.p.queries != s.p.keys) continue;

    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = s.p.kv_heads, shape.head_dim = s.p.head_dim, shape.value_dim = s.p.value_dim, shape.max_tokens = tokens;
    shape.integers = 1;
    Aligned memory(attend_cache_size(&shape));
    attend_cache* cache = nullptr;
    REQUIRE(attend_cache_init(&shape, memory.data(), attend_cache_size(&shape), &cache) == ATTEND_OK);
    const attend_input keys = {s.p.key.data, 0, s.p.kv_heads * s.p.head_dim, s.p.head_dim};
    const attend_input values = {s.p.value.data, 0, s.p.kv_heads * s.p.value_dim, s.p.value_dim};
    REQUIRE(attend_integer_cache_append(cache, tokens, &keys, &values) == ATTEND_OK);
    attend_problem cached = s.p;
    attend_problem none;
    attend_problem_init(&none, sizeof none);
    cached.key = none.key, cached.value = none.value, cached.cache = cache;
    std::fill(s.output.begin(), s.output.end(), -7.0f);
    for (int part = 0; part < 2; ++part) REQUIRE(run(cached, part, 2) == ATTEND_OK);
    CHECK(same(s.output, expected));
  }
}

TEST_CASE("c ranges: each batch row has its own list, and one of the two may be left out") {
  constexpr int tokens = 30, width = 8, batch = 3;
  Random random(88);
  std::vector<float> query(batch * tokens * width), key(query.size()), value(query.size()), output(query.size()),
      expected(query.size());
  for (auto* numbers : {&query, &key, &value}) random.fill(numbers->data(), numbers->size(), 1.0f);
  std::vector<std::int32_t> first, end;
  for (int i = 0; i < batch * tokens; ++i) first.push_back(random.between(0, 20)), end.push_back(random.between(20, 40));
  std::vector<std::uint8_t> mask(batch * tokens * tokens);
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  p.batch = batch, p.query_heads = p.kv_heads = 1, p.head_dim = p.value_dim = width, p.queries = p.keys = tokens;
  p.query.data = query.data(), p.key.data = key.data(), p.value.data = value.data();
  for (int which = 1; which < 4; ++which) {
    for (const bool shared : {false, true}) {
      p.ranges = {nullptr, nullptr, ATTEND_DENSE};
      attend_problem masked = p;
      for (int i = 0; i < batch * tokens; ++i) {
        const std::size_t at = std::size_t(shared ? i % tokens : i);
        for (int j = 0; j < tokens; ++j) {
          mask[std::size_t(i * tokens + j)] = ((which & 1) == 0 || j >= first[at]) && ((which & 2) == 0 || j < end[at]);
        }
      }
      masked.mask = {mask.data(), tokens * tokens, 0, tokens, tokens, ATTEND_MASK_BYTES};
      masked.output.data = expected.data(), p.output.data = output.data();
      REQUIRE(run(masked) == ATTEND_OK);
      p.ranges = {which & 1 ? first.data() : nullptr, which & 2 ? end.data() : nullptr, shared ? 0 : ATTEND_DENSE};
      for (const int parts : {1, 2, 5}) {
        std::fill(output.begin(), output.end(), -7.0f);
        for (int part = 0; part < parts; ++part) REQUIRE(run(p, part, parts) == ATTEND_OK);
        INFO("lists ", which, " shared ", shared, " parts ", parts);
        CHECK(same(output, expected));
      }
    }
  }
}

TEST_CASE("c ranges and documents: a layer takes them as a call does") {
  constexpr int tokens = 50, width = 12;
  Random random(77);
  std::vector<float> x(tokens * width), y(x.size()), expected(x.size()), numbers(4 * width * width);
  random.fill(x.data(), x.size(), 1.0f);
  random.fill(numbers.data(), numbers.size(), 0.5f);
  attend_layer layer;
  REQUIRE(attend_layer_init(&layer, sizeof layer) == ATTEND_OK);
  int at = 0;
  for (attend_weights* weights : {&layer.query, &layer.key, &layer.value, &layer.output}) {
    weights->data = numbers.data() + at, weights->outputs = width, weights->inputs = width;
    at += width * width;
  }
  attend_problem p;
  attend_problem_init(&p, sizeof p);
  p.query_heads = p.kv_heads = 2, p.head_dim = p.value_dim = width / 2, p.queries = tokens;
  const auto attend = [&](std::vector<float>& to) {
    const std::size_t bytes = attend_layer_workspace_size(&p, &layer);
    Aligned workspace(bytes);
    return attend_self_attention(&p, &layer, x.data(), to.data(), workspace.data(), bytes);
  };
  std::vector<std::int32_t> first, end;
  std::vector<std::uint8_t> mask(tokens * tokens);
  for (int i = 0; i < tokens; ++i) {
    first.push_back(i / 13 * 13), end.push_back(i % 5 == 0 ? i + 1 : i + 9);
    for (int j = 0; j < tokens; ++j) mask[std::size_t(i * tokens + j)] = j >= first.back() && j < end.back();
  }
  p.mask = {mask.data(), 0, 0, tokens, tokens, ATTEND_MASK_BYTES};
  REQUIRE(attend(expected) == ATTEND_OK);
  attend_problem_init(&p, sizeof p);
  p.query_heads = p.kv_heads = 2, p.head_dim = p.value_dim = width / 2, p.queries = tokens;
  p.ranges = {first.data(), end.data(), ATTEND_DENSE};
  REQUIRE(attend(y) == ATTEND_OK);
  CHECK(same(y, expected));

  // Documents: each alone.
  p.ranges = {nullptr, nullptr, ATTEND_DENSE};
  p.options = ATTEND_CAUSAL;
  const std::int32_t boundaries[] = {0, 21, 50};
  const std::vector<float> all = x;
  for (int d = 0; d < 2; ++d) {
    p.queries = boundaries[d + 1] - boundaries[d];
    std::copy(all.begin() + boundaries[d] * width, all.begin() + boundaries[d + 1] * width, x.begin());
    REQUIRE(attend(y) == ATTEND_OK);
    std::copy(y.begin(), y.begin() + p.queries * width, expected.begin() + boundaries[d] * width);
  }
  x = all, p.queries = tokens;
  p.documents = {boundaries, 2};
  REQUIRE(attend(y) == ATTEND_OK);
  CHECK(same(y, expected));
}
