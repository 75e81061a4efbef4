// Digests of fixed cases: what every backend, compiler and board must reproduce. Freestanding, on memory of the caller, so that
// the smallest board can run it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/random.h"
#include "attend/core/attention.h"

namespace attend_test {

struct DigestCase {
  int query_heads, kv_heads, head_dim, value_dim, queries, keys;
  bool causal;
  int offset;
  float scale;   // of the scores
  float spread;  // queries within -spread … spread, keys and values within -1 … 1
  bool cache;    // keys in a cache, queries in chunks of 3; otherwise one call over arrays
  uint64_t digest;
};

#define DIGEST(...) {__VA_ARGS__},
#define OPTION_DIGEST(...)
constexpr DigestCase digest_cases[] = {
#include "digests.inc"
};
#undef DIGEST
#undef OPTION_DIGEST
constexpr int digest_case_count = int(sizeof digest_cases / sizeof digest_cases[0]);

// Blocks are small, so that little memory is needed. No bit depends on them.
constexpr int digest_row_block = 8, digest_key_block = 64;

constexpr size_t digest_floats(const DigestCase& c) {
  const size_t q = size_t(c.queries) * size_t(c.query_heads), kv = size_t(c.keys) * size_t(c.kv_heads);
  const size_t cache = c.cache ? attend::core::cache_key_floats(c.kv_heads, c.head_dim, c.keys) +
                                     attend::core::cache_value_floats(c.kv_heads, c.value_dim, c.keys)
                               : 0;
  return q * size_t(c.head_dim + c.value_dim) + kv * size_t(c.head_dim + c.value_dim) + cache +
         attend::core::scratch_floats(digest_row_block, digest_key_block, c.head_dim, c.value_dim, c.keys, c.cache);
}

// The 64-bit FNV-1a hash of the output's bytes, little end first, in the order [query][head][column].
inline uint64_t compute_digest(const DigestCase& c, float* memory) {
  const auto take = [&memory](size_t count) {
    float* taken = memory;
    memory += count;
    return taken;
  };
  const size_t q = size_t(c.queries) * size_t(c.query_heads), kv = size_t(c.keys) * size_t(c.kv_heads);
  float* query = take(q * size_t(c.head_dim));
  float* key = take(kv * size_t(c.head_dim));
  float* value = take(kv * size_t(c.value_dim));
  float* output = take(q * size_t(c.value_dim));
  Random random(uint64_t(c.head_dim) * 1000003u + uint64_t(c.keys));
  random.fill(query, q * size_t(c.head_dim), c.spread);
  random.fill(key, kv * size_t(c.head_dim));
  random.fill(value, kv * size_t(c.value_dim));

  attend::core::Problem p{};
  p.query = {query, ptrdiff_t(c.query_heads) * c.head_dim, c.head_dim};
  p.output = {output, ptrdiff_t(c.query_heads) * c.value_dim, c.value_dim};
  p.key = {key, ptrdiff_t(c.kv_heads) * c.head_dim, c.head_dim};
  p.value = {value, ptrdiff_t(c.kv_heads) * c.value_dim, c.value_dim};
  if (c.cache) {
    const size_t key_floats = attend::core::cache_key_floats(c.kv_heads, c.head_dim, c.keys);
    const size_t value_floats = attend::core::cache_value_floats(c.kv_heads, c.value_dim, c.keys);
    const attend::core::Cache cache{take(key_floats), take(value_floats), c.kv_heads, c.head_dim, c.value_dim, c.keys};
    attend::core::store(cache, 0, c.keys, p.key, p.value);
    p.key = {cache.keys, 0, ptrdiff_t(key_floats) / c.kv_heads};
    p.value = {cache.values, c.value_dim, ptrdiff_t(value_floats) / c.kv_heads};
    p.key_panels = true;
  }
  p.query_heads = c.query_heads;
  p.kv_heads = c.kv_heads;
  p.head_dim = c.head_dim;
  p.value_dim = c.value_dim;
  p.keys = c.keys;
  p.scale = c.scale;
  p.causal = c.causal;
  p.row_block = digest_row_block;
  p.key_block = digest_key_block;
  p.scratch = memory;
  const int chunk = c.cache ? 3 : c.queries;
  for (int first = 0; first < c.queries; first += chunk) {
    p.queries = c.queries - first < chunk ? c.queries - first : chunk;
    p.offset = c.offset + first;
    attend::core::run(p);
    p.query.data += chunk * p.query.token_stride;
    p.output.data += chunk * p.output.token_stride;
  }

  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < q * size_t(c.value_dim); ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, output + i, sizeof bits);
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace attend_test
