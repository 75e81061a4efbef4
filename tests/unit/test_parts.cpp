// Parts of a problem: together they are the whole, apart they touch nothing in common, and they take about the same work.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "../support/instance.h"
#include "attend/attend.h"

using namespace attend_test;

namespace {

// Rows (token, query head) that the part writes.
std::vector<bool> written(const Instance& instance, int part, int parts) {
  std::vector<float> output(std::size_t(instance.s.queries * instance.s.query_heads * instance.s.value_dim), -7.0f);
  attend::core::Problem p = instance.arrays(output);
  p.row_block = 8, p.key_block = 64;
  std::vector<float> scratch(attend::core::scratch_floats(8, 64, p.head_dim, p.value_dim, p.keys, false));
  p.scratch = scratch.data();
  attend::core::Floats::run_part(p, part, parts);
  std::vector<bool> rows(std::size_t(p.queries * p.query_heads));
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = output[r * std::size_t(p.value_dim)] != -7.0f;
  return rows;
}

struct Encoder {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, max_tokens = 40;
};

}  // namespace

TEST_CASE("parts: every row belongs to one of them") {
  for (const Shape& shape :
       {Shape{1, 1, 4, 2, 200, 200, true, 0, 0.0f, 1.0f}, Shape{6, 2, 4, 1, 1, 30, false, 0, 0.0f, 1.0f},
        Shape{8, 8, 4, 1, 1, 30, false, 0, 0.0f, 1.0f}, Shape{3, 3, 4, 1, 50, 50, true, -20, 0.0f, 1.0f},
        Shape{4, 2, 4, 1, 3, 700, true, 697, 0.0f, 1.0f}, Shape{2, 1, 4, 1, 500, 60, false, 0, 0.0f, 1.0f}}) {
    const Instance instance(shape, 5);
    for (const int parts : {1, 2, 3, 4, 7, 16, 40}) {
      std::vector<int> count(std::size_t(shape.queries * shape.query_heads));
      for (int part = 0; part < parts; ++part) {
        const std::vector<bool> rows = written(instance, part, parts);
        for (std::size_t r = 0; r < rows.size(); ++r) count[r] += rows[r];
      }
      INFO(instance.text(), " ", parts);
      CHECK(std::count(count.begin(), count.end(), 1) == std::ptrdiff_t(count.size()));
    }
  }
}

TEST_CASE("parts: a causal triangle is cut into equal work, not into equal rows") {
  const Instance instance({1, 1, 4, 1, 960, 960, true, 0, 0.0f, 1.0f}, 6);
  for (const int parts : {2, 4, 5}) {
    long total = 0, most = 0;
    for (int part = 0; part < parts; ++part) {
      const std::vector<bool> rows = written(instance, part, parts);
      long work = 0;
      for (std::size_t r = 0; r < rows.size(); ++r) work += rows[r] ? long(r) + 1 : 0;
      total += work;
      most = std::max(most, work);
    }
    CHECK(double(most) * parts < 1.06 * double(total));
  }
}

TEST_CASE("parts: in threads, the bits of the whole") {
  const Instance instance({6, 3, 24, 20, 150, 150, true, 0, 0.0f, 2.0f}, 7);
  const std::vector<float> expected = instance.defined();
  for_each_backend([&](const char*) {
    for (const int parts : {2, 3, 4}) {
      std::vector<float> output(expected.size(), -7.0f);
      std::vector<std::thread> threads;
      for (int part = 0; part < parts; ++part) {
        threads.emplace_back([&, part] {
          attend::core::Problem p = instance.arrays(output);
          p.row_block = 48, p.key_block = 64;
          std::vector<float> scratch(attend::core::scratch_floats(48, 64, p.head_dim, p.value_dim, p.keys, false));
          p.scratch = scratch.data();
          attend::core::Floats::run_part(p, part, parts);
        });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(same_bits(output, expected));
    }
  });
}

TEST_CASE("parts: the typed calls take one after the options, and refuse impossible ones") {
  static attend::Query<Encoder, 40> query;
  static attend::Key<Encoder, 40> key;
  static attend::Value<Encoder, 40> value;
  static attend::Output<Encoder, 40> whole, found;
  static attend::Workspace<Encoder, 40, 40> work;
  static attend::KvCache<Encoder> cache;
  static attend::Query<Encoder> last;
  static attend::Output<Encoder> last_whole, last_found;
  Random random(9);
  random.fill(&query[0][0][0], sizeof query / sizeof(float));
  random.fill(&key[0][0][0], sizeof key / sizeof(float));
  random.fill(&value[0][0][0], sizeof value / sizeof(float));
  random.fill(&last[0][0][0], sizeof last / sizeof(float));
  REQUIRE(cache.append(key, value) == attend::Status::ok);
  REQUIRE(attend::attention(query, key, value, whole, work, attend::causal()) == attend::Status::ok);
  REQUIRE(attend::decode(last, cache, last_whole) == attend::Status::ok);
  for (const int count : {1, 2, 3, 6}) {
    found = {}, last_found = {};
    for (int i = 0; i < count; ++i) {
      CHECK(attend::attention(query, key, value, found, work, attend::causal(), attend::Part{i, count}) == attend::Status::ok);
      CHECK(attend::decode(last, cache, last_found, attend::Options{}, attend::Part{i, count}) == attend::Status::ok);
    }
    CHECK(std::memcmp(&found, &whole, sizeof whole) == 0);
    CHECK(std::memcmp(&last_found, &last_whole, sizeof last_whole) == 0);
    found = {};
    for (int i = 0; i < count; ++i) {
      CHECK(attend::prefill(query, cache, found, work, attend::causal(0), attend::Part{i, count}) == attend::Status::ok);
    }
    CHECK(std::memcmp(&found, &whole, sizeof whole) == 0);
  }
  found = whole;
  for (const attend::Part part :
       {attend::Part{-1, 2}, attend::Part{2, 2}, attend::Part{0, 0}, attend::Part{0, -1}, attend::Part{0, 65536}}) {
    CHECK(attend::attention(query, key, value, found, work, attend::causal(), part) == attend::Status::bad_part);
  }
  CHECK(std::memcmp(&found, &whole, sizeof whole) == 0);
}
