// A case of attention without options, and its digest. Freestanding, on memory of the caller, so that the smallest board can
// run it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/core_numbers.h"
#include "../support/placed.h"
#include "../support/random.h"
#include "attend/core/attention.h"
#include "hash.h"

namespace attend_test {

struct PlainCase {
  int query_heads, kv_heads, head_dim, value_dim, queries, keys;
  bool causal;
  int offset;
  float scale;   // of the scores
  float spread;  // queries within -spread … spread, values within -1 … 1
  bool cache;    // keys in a cache, queries in chunks of 3; otherwise one call over arrays
  float key_spread;
};
constexpr PlainCase plain_problem(int query_heads, int kv_heads, int head_dim, int value_dim, int queries, int keys, int causal,
                                  int offset, float scale, float spread, int cache, float key_spread = 1.0f) {
  return {query_heads, kv_heads, head_dim, value_dim, queries,    keys,
          causal != 0, offset,   scale,    spread,    cache != 0, key_spread};
}

// Blocks are small, so that little memory is needed. No bit depends on them.
constexpr int digest_row_block = 8, digest_key_block = 64;

constexpr size_t digest_bytes(const PlainCase& c) {
  const size_t q = size_t(c.queries) * size_t(c.query_heads), kv = size_t(c.keys) * size_t(c.kv_heads);
  const size_t cache = c.cache ? attend::core::cache_key_floats(c.kv_heads, c.head_dim, c.keys) +
                                     attend::core::cache_value_floats(c.kv_heads, c.value_dim, c.keys)
                               : 0;
  return sizeof(float) *
         ((q + kv) * size_t(c.head_dim + c.value_dim) + cache +
          attend::core::scratch_floats(digest_row_block, digest_key_block, c.head_dim, c.value_dim, c.keys, c.cache));
}

// Of the output, in the order [query][head][column].
inline uint64_t compute_digest(const PlainCase& c, void* memory) {
  float* next = static_cast<float*>(memory);
  const auto take = [&next](size_t count) { return take_next<float>(next, count); };
  const size_t q = size_t(c.queries) * size_t(c.query_heads), kv = size_t(c.keys) * size_t(c.kv_heads);
  float* query = take(q * size_t(c.head_dim));
  float* key = take(kv * size_t(c.head_dim));
  float* value = take(kv * size_t(c.value_dim));
  float* output = take(q * size_t(c.value_dim));
  Random random(uint64_t(c.head_dim) * 1000003u + uint64_t(c.keys));
  random.fill(query, q * size_t(c.head_dim), c.spread);
  random.fill(key, kv * size_t(c.head_dim), c.key_spread);
  random.fill(value, kv * size_t(c.value_dim));

  attend::core::Problem p = problem_over(c, query, key, value, output);
  if (c.cache) {
    const size_t key_floats = attend::core::cache_key_floats(c.kv_heads, c.head_dim, c.keys);
    const size_t value_floats = attend::core::cache_value_floats(c.kv_heads, c.value_dim, c.keys);
    const attend::core::Cache cache{take(key_floats), take(value_floats), c.kv_heads, c.head_dim, c.value_dim, c.keys};
    attend::core::store(cache, 0, c.keys, numbers_of<float>(p.key), numbers_of<float>(p.value));
    p.key = {cache.keys, 0, ptrdiff_t(key_floats) / c.kv_heads};
    p.value = {cache.values, c.value_dim, ptrdiff_t(value_floats) / c.kv_heads};
    p.key_panels = true;
  }
  p.row_block = c.queries == 1 ? 1 : digest_row_block;
  p.key_block = digest_key_block;
  p.scratch = take(attend::core::scratch_floats(digest_row_block, digest_key_block, c.head_dim, c.value_dim, c.keys, c.cache));
  const int chunk = c.cache ? 3 : c.queries;
  for (int first = 0; first < c.queries; first += chunk) {
    p.queries = c.queries - first < chunk ? c.queries - first : chunk;
    p.offset = c.offset + first;
    attend::core::Floats::run(p);
    move_by<float>(p.query, chunk * p.query.token_stride);
    move_by<float>(p.output, chunk * p.output.token_stride);
  }
  return hash_bits(output, q * size_t(c.value_dim));
}

}  // namespace attend_test
