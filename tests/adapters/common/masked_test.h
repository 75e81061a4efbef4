// Random problems under masks, and how many calls of the library they take.
#pragma once

#include <attend/attend_c.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

std::atomic<int> calls{0};
attend_status counted(const attend_problem* problem, std::ptrdiff_t part, std::ptrdiff_t parts, void* work, std::size_t bytes) {
  if (part == 0) ++calls;
  return attend_run_part(problem, part, parts, work, bytes);
}

}  // namespace

#define attend_run_part counted
#include "../../../bench/adapters/common/masked.h"
#include "../../../bench/adapters/common/threads.h"

namespace {

using Numbers = std::vector<float>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int heads = 4, kv_heads = 2, width = 24;

Numbers random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Numbers numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

// Tokens of one or several rows: queries [row][token][heads][width], keys and values [row][token][kv_heads][width].
struct Tokens {
  int rows, queries, keys;
  Numbers query, key, value;

  Tokens(int r, int q, int k, unsigned seed)
      : rows(r),
        queries(q),
        keys(k),
        query(random_numbers(std::size_t(r * q * heads * width), seed)),
        key(random_numbers(std::size_t(r * k * kv_heads * width), seed + 1)),
        value(random_numbers(std::size_t(r * k * kv_heads * width), seed + 2)) {}
};

attend_problem problem_of(const Tokens& tokens, Numbers& output) {
  output.assign(tokens.query.size(), -7.0f);
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  problem.batch = tokens.rows;
  problem.query_heads = heads;
  problem.kv_heads = kv_heads;
  problem.head_dim = problem.value_dim = width;
  problem.queries = tokens.queries;
  problem.keys = tokens.keys;
  problem.query = {tokens.query.data(), tokens.queries * heads * width, heads * width, width};
  problem.key = {tokens.key.data(), tokens.keys * kv_heads * width, kv_heads * width, width};
  problem.value = {tokens.value.data(), tokens.keys * kv_heads * width, kv_heads * width, width};
  problem.output = {output.data(), tokens.queries * heads * width, heads * width, width};
  return problem;
}

attend_adapter::Memory memory;
attend_adapter::Threads threads;

bool run(const attend_problem& problem) {
  calls = 0;
  return attend_adapter::run_masked_attention(problem, threads.parallel(), memory) == ATTEND_OK;
}

bool same(const float* a, const float* b, std::size_t count) { return std::memcmp(a, b, count * sizeof(float)) == 0; }

// What a mask shows, [row][query][key]: `shown` has 1 for it.
using Shown = std::vector<std::uint8_t>;
template <class Shows>
Shown mask_of(const Tokens& tokens, const Shows& shows) {
  Shown shown;
  for (int row = 0; row < tokens.rows; ++row) {
    for (int i = 0; i < tokens.queries; ++i) {
      for (int j = 0; j < tokens.keys; ++j) shown.push_back(shows(row, i, j));
    }
  }
  return shown;
}
void set_mask(attend_problem& problem, const Shown& shown) {
  problem.mask = {shown.data(), problem.queries * problem.keys, 0, problem.keys, problem.keys, ATTEND_MASK_BYTES};
}
Numbers bias_of(const Shown& shown, float hidden) {
  Numbers bias;
  for (const std::uint8_t one : shown) bias.push_back(one != 0 ? 0.0f : hidden);
  return bias;
}
void set_bias(attend_problem& problem, const Numbers& bias) {
  problem.bias = {bias.data(), problem.queries * problem.keys, 0, problem.keys, problem.keys};
}

}  // namespace
