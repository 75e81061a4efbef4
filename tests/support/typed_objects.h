// What the tests of the typed surface have in common: filled arrays, comparisons by bytes, and calls of the core made by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "attend/merged_states.h"
#include "instance.h"

namespace attend_test {

// The sizes of a RingCache.
template <int window_tokens, int sink_logits = 0, int at_once = 1>
struct RingOf {
  static constexpr int window = window_tokens, sink_tokens = sink_logits, tokens_at_once = at_once;
};

template <class Array>
float* numbers_of(Array& array) {
  static_assert(alignof(Array) == alignof(float), "an array of floats and nothing else");
  return static_cast<float*>(static_cast<void*>(&array));
}

// Uniform in [-spread, spread); arrays of bytes: any of them.
template <class Array>
void fill_array(Array& array, std::uint64_t seed, float spread = 1.0f) {
  Random random(seed);
  if constexpr (alignof(Array) == 1) {
    auto* const bytes = static_cast<std::uint8_t*>(static_cast<void*>(&array));
    for (std::size_t i = 0; i < sizeof array; ++i) bytes[i] = std::uint8_t(random.bits() >> 24);
  } else {
    random.fill(numbers_of(array), sizeof array / sizeof(float), spread);
  }
}

// Uniform in [-1, 1).
template <class Array>
std::unique_ptr<Array> random_floats(std::uint64_t seed) {
  auto made = std::make_unique<Array>();
  fill_array(*made, seed);
  return made;
}

template <class Array>
void poison_array(Array& array) {
  std::fill_n(numbers_of(array), sizeof array / sizeof(float), std::numeric_limits<float>::quiet_NaN());
}

template <class Array>
Array filled(std::uint64_t seed) {
  Array array{};
  fill_array(array, seed, 2.0f);
  return array;
}

template <class Array>
Array poisoned() {
  Array array;
  poison_array(array);
  return array;
}

template <class Array>
bool same_array(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Token `from` and the ones after it, as many as the other array takes.
template <class To, class From>
void copy_tokens(const From& array, int from, To& to) {
  std::memcpy(&to, array[from], sizeof to);
}

// A call of the core over arrays, with blocks other than those of the typed surface. Options and outputs are up to the test.
template <class Shape, int queries, int keys>
struct CoreCall {
  using Dims = attend::detail::Checked<Shape>;
  attend::core::Problem problem{};
  attend::core::Options options{};

  CoreCall(const attend::Query<Shape, queries>& query, const attend::Key<Shape, keys>& key,
           const attend::Value<Shape, keys>& value) {
    problem.query = {query.data[0][0], Dims::query_heads * Dims::head_dim, Dims::head_dim};
    problem.key = {key.data[0][0], Dims::kv_heads * Dims::head_dim, Dims::head_dim};
    problem.value = {value.data[0][0], Dims::kv_heads * Dims::value_dim, Dims::value_dim};
    problem.query_heads = Dims::query_heads;
    problem.kv_heads = Dims::kv_heads;
    problem.head_dim = Dims::head_dim;
    problem.value_dim = Dims::value_dim;
    problem.queries = queries;
    problem.keys = keys;
    problem.scale = attend::default_scale(Dims::head_dim);
    problem.row_block = 7;
    problem.key_block = 128;
  }

  template <int rows>
  void run(attend::Output<Shape, rows>& output) {
    std::vector<float> scratch(
        attend::core::option_scratch_floats(problem.row_block, problem.key_block, Dims::head_dim, Dims::value_dim) + 16);
    void* start = scratch.data();
    std::size_t bytes = scratch.size() * sizeof(float);
    problem.scratch = static_cast<float*>(std::align(attend::config::alignment, sizeof(float), start, bytes));
    problem.output = {output.data[0][0], Dims::query_heads * Dims::value_dim, Dims::value_dim};
    attend::core::Floats::run(problem, options);
  }
};

}  // namespace attend_test
