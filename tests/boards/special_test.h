// Problems with NaN, infinities and huge numbers planted in queries, keys and values, some of them masked, in four sizes: a
// hash of the outputs of each, the same on every target. All NaNs count as the same, as do zeros of either sign, and subnormals
// count as zero.
#pragma once

#include "../conformance/hash.h"
#include "../support/random.h"
#include "attend/core/attention.h"
#include "self_test.h"

namespace firmware {
namespace specials {

constexpr int problems = 300, most_tokens = 90, most_queries = 5, most_dims = 20, sizes = 4;
constexpr uint64_t expected[sizes] = {0xc91077ab4c6535d7, 0xd04f2f7502b514c1, 0x79a6e5e4f3e55fc7, 0xfa5a2fb33a18eba1};

// Where a problem's numbers lie; without memory they are counted only.
struct Numbers {
  float *query, *key, *value, *output, *scratch, *panels, *rows, *end;

  Numbers(const attend::core::Problem& p, bool cached, float* memory) {
    float* next = memory;
    const auto take = [&next](size_t count) { return next += (count + 15) / 16 * 16, next - (count + 15) / 16 * 16; };
    const size_t q = size_t(p.queries * p.query_heads), kv = size_t(p.keys);
    query = take(q * size_t(p.head_dim)), output = take(q * size_t(p.value_dim));
    key = take(kv * size_t(p.head_dim)), value = take(kv * size_t(p.value_dim));
    scratch = take(attend::core::scratch_floats(p.row_block, p.key_block, p.head_dim, p.value_dim, p.keys, false));
    panels = take(cached ? attend::core::cache_key_floats(1, p.head_dim, p.keys) : 0);
    rows = take(cached ? attend::core::cache_value_floats(1, p.value_dim, p.keys) : 0);
    end = next;
  }
};

inline attend::core::Problem draw_shape(attend_test::Random& random) {
  attend::core::Problem p{};
  p.query_heads = random.between(1, 2);
  p.kv_heads = 1;
  p.head_dim = random.between(1, most_dims);
  p.value_dim = random.between(1, most_dims);
  p.queries = random.between(1, most_queries);
  p.keys = random.between(1, most_tokens);
  p.causal = random.between(0, 2) != 0;
  p.offset = random.between(-2, p.keys);
  p.scale = 0.5f;
  p.row_block = random.between(1, 4);
  p.key_block = attend::chain_keys;
  return p;
}

constexpr int numbers_of_size = most_tokens * 2 * most_dims / sizes;  // of keys and values
inline int size_of(const attend::core::Problem& p) { return (p.keys * (p.head_dim + p.value_dim) - 1) / numbers_of_size; }

// An element of a tensor becomes one of these, or stays as it is.
inline void plant(attend_test::Random& random, float* tensor, int count, int kinds) {
  constexpr float specials[] = {__builtin_nanf(""), __builtin_inff(), -__builtin_inff(), 3e38f, -3e38f, 1e20f, 4e6f};
  if (random.between(0, 2) == 0) tensor[random.between(0, count - 1)] = specials[random.between(0, kinds - 1)];
}

inline uint64_t compute(attend_test::Random& random, attend::core::Problem p, bool cached, float* memory, uint64_t found) {
  const Numbers of(p, cached, memory);
  const int query_floats = p.queries * p.query_heads * p.head_dim, outputs = p.queries * p.query_heads * p.value_dim;
  random.fill(of.query, size_t(query_floats), 2.0f);
  random.fill(of.key, size_t(p.keys * p.head_dim), 2.0f);
  random.fill(of.value, size_t(p.keys * p.value_dim));
  plant(random, of.query, query_floats, 7);
  plant(random, of.key, p.keys * p.head_dim, 7);
  plant(random, of.value, p.keys * p.value_dim, 1);  // a weight near 0 may be 0, and 0 times infinity is something else
  p.scratch = of.scratch;
  p.query = {of.query, p.query_heads * p.head_dim, p.head_dim};
  p.output = {of.output, p.query_heads * p.value_dim, p.value_dim};
  p.key = {of.key, p.head_dim, 0};
  p.value = {of.value, p.value_dim, 0};
  if (cached) {
    const attend::core::Cache cache = {of.panels, of.rows, 1, p.head_dim, p.value_dim, p.keys};
    attend::core::store(cache, 0, p.keys, {of.key, p.head_dim, 0}, {of.value, p.value_dim, 0});
    p.key = {of.panels, 0, 0};
    p.value = {of.rows, p.value_dim, 0};
    p.key_panels = true;
  }
  attend::core::Floats::run(p);
  return attend_test::hash_floats(found, of.output, size_t(outputs));
}

// Calls a function for each problem of a size, with its shape, what else is drawn for it, and whether its keys lie in a cache.
template <class Call>
void each_problem(int size, Call call) {
  for (int i = 0; i < 2 * problems; ++i) {
    attend_test::Random random{uint64_t(i / 2)};
    const attend::core::Problem p = draw_shape(random);
    if (size_of(p) == size) call(random, p, i % 2 != 0);
  }
}

}  // namespace specials

inline void test_specials(const Memory& memory, Counts& counts) {
  using namespace specials;
  for (int size = 0; size < sizes; ++size) {
    ptrdiff_t most = 0;
    uint64_t found = attend_test::hash_begin;
    each_problem(size, [&](attend_test::Random&, const attend::core::Problem& p, bool cached) {
      const ptrdiff_t floats = Numbers(p, cached, memory.floats).end - memory.floats;
      if (floats > most) most = floats;
    });
    if (!counts.has(memory, size_t(most) * sizeof(float))) continue;
    each_problem(size, [&](attend_test::Random& random, const attend::core::Problem& p, bool cached) {
      found = compute(random, p, cached, memory.floats, found);
    });
    counts.count(found == expected[size]);
    if (found == expected[size]) continue;
    print("problems with specials, of size ");
    print_number(uint64_t(size));
    print_difference(expected[size], found);
  }
}

}  // namespace firmware
