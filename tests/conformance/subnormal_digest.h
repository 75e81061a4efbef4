// Digests of inputs that are subnormal, or whose roundings a rounding mode would change: queries, keys, values, scales, biases,
// and rows that caches make smaller. Freestanding, as plain_digest.h.
#pragma once

#include "../support/float_environment.h"
#include "../support/random.h"
#include "attend/core/options.h"
#include "attend/layers/core_layer.h"
#include "hash.h"

namespace attend_test {

// What is subnormal.
enum class Subnormal { queries, keys, values, key_scales, value_scales, biases, rows, linear };
struct SubnormalCase {
  Subnormal what;
};
constexpr SubnormalCase subnormal(Subnormal what) { return {what}; }

// Whether a target has the digest: not those whose vectors flush subnormal numbers, but for biases, which change nothing.
template <class Case>
constexpr bool has_digest(const Case&) {
  return true;
}
constexpr bool has_digest(const SubnormalCase& c) { return !always_flushes || c.what == Subnormal::biases; }

namespace subnormal_detail {

using attend::core::Format;
constexpr int tokens = 3, keys = 32, width = 20, heads = 2;
// Queries, keys and values, biases, both kinds of scales, output, bytes of keys and values; then work memory.
constexpr size_t row = width, query_floats = tokens * heads * row, key_floats = keys * row;
constexpr size_t floats = 2 * query_floats + 2 * key_floats + tokens * keys + 2 * keys + 2 * key_floats / 4;

// Any subnormal number, by its bits: arithmetic would depend on the environment.
inline void fill_subnormal(float* to, size_t count, Random& random) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = random.bits() & 0x807fffffu;
    __builtin_memcpy(to + i, &bits, sizeof bits);
  }
}

inline uint64_t digest_of_attention(Subnormal what, float* memory) {
  const auto take = [&memory](size_t count) { return memory += count, memory - count; };
  const auto is = [what](Subnormal a) { return what == a; };
  float *const query = take(query_floats), *const output = take(query_floats);
  float *const key = take(key_floats), *const value = take(key_floats), *const bias = take(tokens * keys);
  float *const key_scales = take(keys), *const value_scales = take(keys), *const bytes = take(2 * key_floats / 4);
  Random random(7);
  // Scaled queries are of ordinary size where they meet ordinary keys, and about 2^126 where keys are subnormal. Queries of 0
  // give every value the same weight: sums of subnormal numbers are exact then, and the last multiplication rounds.
  const bool sums = is(Subnormal::values) || is(Subnormal::value_scales);
  const bool scales = is(Subnormal::key_scales) || is(Subnormal::value_scales);
  random.fill(query, query_floats, sums ? 0.0f : is(Subnormal::keys) ? 0x1p100f : is(Subnormal::key_scales) ? 0x1p93f : 1.0f);
  random.fill(key, key_floats), random.fill(value, key_floats);
  if (is(Subnormal::queries)) fill_subnormal(query, query_floats, random);
  if (is(Subnormal::keys)) fill_subnormal(key, key_floats, random);
  if (is(Subnormal::values)) fill_subnormal(value, key_floats, random);
  fill_subnormal(bias, tokens * keys, random);
  fill_subnormal(key_scales, keys, random), fill_subnormal(value_scales, keys, random);
  auto* const numbers = reinterpret_cast<int8_t*>(bytes);
  for (size_t i = 0; i < 2 * key_floats; ++i) numbers[i] = int8_t(random.between(-127, 127));
  if (!is(Subnormal::key_scales)) {
    for (int j = 0; j < keys; ++j) key_scales[j] = 0x1p-7f;
  }

  attend::core::Problem p{};
  p.query = {query, heads * width, width}, p.output = {output, heads * width, width};
  p.key = {key, width, width}, p.value = {value, width, width};
  p.query_heads = heads, p.kv_heads = 1, p.head_dim = p.value_dim = width;
  p.queries = tokens, p.keys = keys;
  p.scale = is(Subnormal::queries) ? 0x1p126f : is(Subnormal::keys) || is(Subnormal::key_scales) ? 0x1p25f : 0.25f;
  p.row_block = 4, p.key_block = 64, p.scratch = memory;
  attend::core::Options options{};
  if (is(Subnormal::biases)) options.bias = {bias, 0, keys, 0, keys};
  if (scales) {
    p.key.data = bytes, p.value.data = bytes + key_floats / 4;
    options.key_format = options.value_format = Format::int8;
    options.key_scales = key_scales, options.value_scales = value_scales;
    if (is(Subnormal::key_scales)) {
      options.value_format = Format::float32, options.value_scales = nullptr;
      p.value.data = value;
    }
  }
  attend::core::Floats::run(p, options);
  uint64_t hash = hash_bits(output, query_floats);
  if (is(Subnormal::queries) || is(Subnormal::keys) || is(Subnormal::values)) {
    attend::core::Floats::run(p);
    hash = hash_number(hash, hash_bits(output, query_floats) == hash ? 1 : 0);
  }
  return hash;
}

// Rows of subnormal numbers in caches of bytes, and weights of bytes: their scales are rounded.
inline uint64_t digest_of_rows(float* memory) {
  float *const rows = memory, *const scales = memory + 16 * row, *const panels = scales + 32;
  Random random(8);
  fill_subnormal(rows, 16 * row, random);
  for (size_t i = 0; i < 4 * row; ++i) rows[i] = rows[i + 8 * row];  // four of them twice
  attend::core::FormatCache cache{
      panels, panels + 4 * row, scales, scales + 16, Format::int8, Format::int8, 1, width, width, 16, {}};
  attend::core::store(cache, 0, 16, {rows, width, width}, {rows, width, width});
  uint64_t hash = hash_bits(scales, 32);
  hash = hash_bytes(hash, panels, 32 * row);
  attend::core::convert_weights<Format::int8>(rows, 16, width, panels, scales);
  hash = hash_bytes(hash, panels, 16 * row);
  return hash_number(hash, uint32_t(hash_bits(scales, 16)));
}

// Subnormal weights times large inputs; a subnormal factor; the Hadamard transform of subnormal numbers.
inline uint64_t digest_of_weights(float* memory) {
  float *const weights = memory, *const input = memory + 16 * row, *const output = input + 2 * row;
  Random random(9);
  fill_subnormal(weights, 16 * row, random), random.fill(input, 2 * row, 0x1p120f);
  attend::core::run_linear<Format::float32>(
      {input, output, weights, nullptr, nullptr, width, 16, width, width, 16, 2, false, nullptr});
  uint64_t hash = hash_bits(output, 32);
  attend::core::add(input, weights[0], 32, output);
  hash = hash_number(hash, uint32_t(hash_bits(output, 32)));
  attend::core::hadamard(weights, 16, 16, output);
  return hash_number(hash, uint32_t(hash_bits(output, 256)));
}

}  // namespace subnormal_detail

constexpr size_t digest_bytes(const SubnormalCase&) {
  using namespace subnormal_detail;
  return sizeof(float) * (floats + attend::core::option_scratch_floats(4, 64, width, width, 1));
}
inline uint64_t compute_digest(const SubnormalCase& c, void* memory) {
  using namespace subnormal_detail;
  float* const numbers = static_cast<float*>(memory);
  if (c.what == Subnormal::rows) return digest_of_rows(numbers);
  if (c.what == Subnormal::linear) return digest_of_weights(numbers);
  return digest_of_attention(c.what, numbers);
}

}  // namespace attend_test
