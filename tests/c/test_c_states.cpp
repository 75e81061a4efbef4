// States through the C surface: arrays that no longer have keys that nobody sees, and what the end of it all does not look at.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "attend/c/layers.h"
#include "attend/c/linear_attention.h"
#include "c_run.h"

using namespace attend_test;

namespace {

constexpr int dim = 24;

struct Work {
  explicit Work(std::size_t size) : bytes(size), memory(::operator new(size, std::align_val_t(ATTEND_ALIGNMENT))) {}
  Work(const Work&) = delete;
  ~Work() { ::operator delete(memory, std::align_val_t(ATTEND_ALIGNMENT)); }
  std::size_t bytes;
  void* memory;
};

attend_status run(const attend_problem& problem) {
  Work work(attend_workspace_size(&problem));
  return attend_run(&problem, work.memory, work.bytes);
}

struct Data {
  explicit Data(int tokens, int batch = 1)
      : query(std::size_t(dim * batch)), key(std::size_t(tokens * dim)), value(key.size()), output(query.size()) {
    Random random{std::uint64_t(tokens)};
    random.fill(query.data(), query.size());
    random.fill(key.data(), key.size());
    random.fill(value.data(), value.size());
    attend_problem_init(&problem, sizeof problem);
    problem.batch = batch;
    problem.query_heads = problem.kv_heads = problem.queries = 1;
    problem.head_dim = problem.value_dim = dim;
    problem.keys = tokens;
    problem.query.data = query.data();
    problem.key.data = key.data();
    problem.value.data = value.data();
    problem.output.data = output.data();
    problem.key.batch_stride = problem.value.batch_stride = 0;
  }
  std::vector<float> query, key, value, output;
  attend_problem problem;
};

}  // namespace

TEST_CASE("c states: arrays may begin past where states stand when windows have left behind what lies between, and else not") {
  constexpr int tokens = 1200, left = 90;
  Data data(tokens);
  data.problem.offset = tokens - 10;
  data.problem.window_left = left;
  for_each_backend([&](const char* backend) {
    CHECK(run(data.problem) == ATTEND_OK);
    const std::vector<float> expected = data.output;
    for (const int before : {0, 4, 130, 500}) {
      for (const int origin : {520, 600, tokens - 10 - left, tokens - 10 - left + 1}) {
        INFO(std::string(backend), " ", before, " ", origin);
        Work states(attend_state_size(&data.problem));
        attend_problem some = data.problem;
        some.states = states.memory;
        some.keys = before;
        CHECK(attend_begin(&some) == ATTEND_OK);
        CHECK(run(some) == ATTEND_OK);
        some.first_key = before;
        some.keys = tokens;
        some.origin = origin;
        some.key.data = data.key.data() + origin * dim;
        some.value.data = data.value.data() + origin * dim;
        const attend_status lost = wrong(ATTEND_MISMATCH, ATTEND_ARG_ORIGIN);
        if (origin > tokens - 10 - left) {
          CHECK(attend_check(&some) == lost);
          continue;
        }
        CHECK(run(some) == ATTEND_OK);
        data.output.assign(dim, -7.0f);
        CHECK(attend_finish(&some) == ATTEND_OK);
        CHECK(same_bits(data.output, expected));
        some.sink_tokens = before;
        CHECK(attend_check(&some) == ATTEND_OK);
        some.sink_tokens = before + 1;
        CHECK(attend_check(&some) == lost);
        some.sink_tokens = 0, some.window_left = ATTEND_NO_LIMIT, some.offset = ATTEND_DEFAULT_OFFSET;
        CHECK(attend_check(&some) == lost);
      }
    }
  });
}

TEST_CASE("c states: keys that windows have left behind take no node, in one call and in several") {
  constexpr int tokens = 70000;
  Data data(tokens, 2);
  const std::ptrdiff_t lengths[] = {tokens, tokens - 600};  // the second row's last queries see no more than their sink tokens
  data.problem.key_lengths = lengths;
  data.problem.offset = tokens - 1;
  data.problem.window_left = 90;
  for_each_backend([&](const char* backend) {
    for (const int sinks : {0, 4}) {
      data.problem.sink_tokens = sinks;
      CHECK(run(data.problem) == ATTEND_OK);
      const std::vector<float> expected = data.output;
      for (const int before : {0, 3, 100, 512, 60000, tokens - 64}) {
        INFO(std::string(backend), " ", sinks, " ", before);
        attend_problem some = data.problem;
        some.state_nodes = 2;
        Work states(attend_state_size(&some));
        some.states = states.memory;
        CHECK(attend_begin(&some) == ATTEND_OK);
        if (before > 0) {
          some.keys = before;
          CHECK(run(some) == ATTEND_OK);
        }
        some.first_key = before, some.keys = tokens, some.origin = 0;
        CHECK(run(some) == ATTEND_OK);
        data.output.assign(2 * dim, -7.0f);
        CHECK(attend_finish(&some) == ATTEND_OK);
        CHECK(same_bits(data.output, expected));
      }
    }
  });
}

TEST_CASE("c states: the end looks neither at queries nor at key lengths") {
  Data data(40, 2);
  CHECK(run(data.problem) == ATTEND_OK);
  const std::vector<float> expected = data.output;
  Work states(attend_state_size(&data.problem));
  attend_problem p = data.problem;
  p.states = states.memory;
  CHECK(attend_begin(&p) == ATTEND_OK);
  CHECK(run(p) == ATTEND_OK);
  p.key_lengths = reinterpret_cast<const std::ptrdiff_t*>(std::uintptr_t(8));
  p.query.batch_stride = std::numeric_limits<std::ptrdiff_t>::max();
  data.output.assign(2 * dim, -7.0f);
  CHECK(attend_finish(&p) == ATTEND_OK);
  CHECK(same_bits(data.output, expected));
}

TEST_CASE("c states: a size that no address reaches is 0") {
  int sizes = 0;
  for (int extents = 0; extents < 64; ++extents) {
    attend_problem p;
    REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
    const auto most = [extents](int bit, int number) { return (extents >> bit & 1) != 0 ? number : 1; };
    p.batch = most(0, 1 << 15), p.queries = most(1, 1 << 29), p.query_heads = most(2, 64), p.value_dim = most(3, 1 << 16);
    p.state_nodes = most(4, 1 << 15), p.kv_heads = p.head_dim = 1;
    p.state_nodes -= extents >= 32 && p.state_nodes > 1 ? 2 : 0;
    const double state = double(p.state_nodes) * double(p.value_dim + 2) + double(2 * p.value_dim + 16);
    const double bytes = 4 * state * double(p.batch) * double(p.queries) * double(p.query_heads);
    const std::size_t size = attend_state_size(&p);
    CHECK((size == 0 || (bytes < double(PTRDIFF_MAX) && double(size) > bytes)));
    sizes += size > 0;
  }
  CHECK(sizes >= 8);
}

// Addresses of 64 bits have room for all of these.
TEST_CASE("c: what no address reaches has no size, and a head whose memory would end behind them all is corrupt") {
  const bool is_small = sizeof(void*) == 4;
  attend_weights weights = {};
  weights.data = reinterpret_cast<void*>(std::uintptr_t(64));  // which nothing reads
  weights.outputs = 1, weights.inputs = 1 << 26;               // a panel has room for 16 outputs
  CHECK((attend_packed_size(&weights) == 0) == is_small);
  attend_linear_attention linear;
  REQUIRE(attend_delta_rule_init(&linear, sizeof linear) == ATTEND_OK);
  linear.query_heads = linear.kv_heads = 64, linear.value_heads = ATTEND_KV_HEADS, linear.head_dim = linear.value_dim = 2048;
  const std::size_t bytes = attend_linear_state_size(&linear);  // a GB
  CHECK(bytes > std::size_t(1) << 29);
  linear.head_dim = 4096;
  CHECK((attend_linear_state_size(&linear) == 0) == is_small);
  linear.head_dim = 64;
  attend_cache_shape shape;
  REQUIRE(attend_cache_shape_init(&shape, sizeof shape) == ATTEND_OK);
  shape.kv_heads = 1, shape.head_dim = shape.value_dim = 64, shape.max_tokens = 1 << 16;

  // Both take some 32 MB, of which the heads alone are used. The stack of a program of 32 bits ends close to its last address.
  const Work of_state(attend_linear_state_size(&linear)), of_cache(attend_cache_size(&shape));
  attend_linear_state* state = nullptr;
  attend_cache* cache = nullptr;
  REQUIRE(attend_linear_state_init(&linear, of_state.memory, of_state.bytes, &state) == ATTEND_OK);
  REQUIRE(attend_cache_init(&shape, of_cache.memory, of_cache.bytes, &cache) == ATTEND_OK);
  alignas(ATTEND_ALIGNMENT) unsigned char copies[2][128];
  if (!is_small || UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(copies) > (32u << 20)) return;
  std::memcpy(copies[0], of_state.memory, 128), std::memcpy(copies[1], of_cache.memory, 128);
  std::uint64_t tokens = 0;
  CHECK(attend_linear_state_tokens(state, &tokens) == ATTEND_OK);
  CHECK(attend_linear_state_tokens(reinterpret_cast<attend_linear_state*>(copies[0]), &tokens) % 256 == ATTEND_CORRUPT);
  CHECK(attend_cache_truncate(cache, 0) == ATTEND_OK);
  CHECK(attend_cache_truncate(reinterpret_cast<attend_cache*>(copies[1]), 0) % 256 == ATTEND_CORRUPT);
}
