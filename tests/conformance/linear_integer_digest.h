// The digest of linear attention in integers: outputs and the state behind the last token, in every cut into calls, in parts,
// and where drafts are read from a state that stays and appended then. Freestanding, as plain_digest.h.
#pragma once

#include "attend/linear_attention/core_linear_integer.h"
#include "linear_attention_digest.h"

namespace attend_test {

struct LinearIntegerCase : LinearAttentionCase {};
constexpr LinearIntegerCase linear_integers(LinearRule rule, Decay decay, int query_heads, int kv_heads, int value_heads,
                                            int head_dim, int value_dim, int tokens) {
  return {linear_attention(rule, decay, query_heads, kv_heads, value_heads, head_dim, value_dim, tokens)};
}

constexpr size_t state_integers(const LinearIntegerCase& c) {
  return attend::core::linear_state_integers(c.value_heads, c.head_dim, c.value_dim);
}
constexpr size_t digest_bytes(const LinearIntegerCase& c) {
  const LinearTokenFloats t = token_floats(c);
  return 4 * (state_integers(c) + attend::core::linear_head_floats(c.head_dim, c.value_dim)) +
         size_t(c.tokens) * (2 * (t.gates + t.beta) + t.query + t.key + t.value + t.output);
}

struct LinearIntegers {
  int32_t *state, *work;
  uint16_t *gates, *beta;
  int8_t *query, *key, *value, *output;
};
inline LinearIntegers linear_integer_data(const LinearIntegerCase& c, void* memory) {
  const LinearTokenFloats t = token_floats(c);
  const size_t tokens = size_t(c.tokens);
  char* next = static_cast<char*>(memory);
  LinearIntegers d;
  d.state = take_next<int32_t>(next, state_integers(c));
  d.work = take_next<int32_t>(next, attend::core::linear_head_floats(c.head_dim, c.value_dim));
  d.gates = take_next<uint16_t>(next, tokens * t.gates);
  d.beta = take_next<uint16_t>(next, tokens * t.beta);
  d.query = take_next<int8_t>(next, tokens * t.query);
  d.key = take_next<int8_t>(next, tokens * t.key);
  d.value = take_next<int8_t>(next, tokens * t.value);
  d.output = take_next<int8_t>(next, tokens * t.output);
  return d;
}

// Keys of about unit norm, but in small heads; between a quarter and three quarters of the tokens there is silence. Now and
// then a gate is 0, and one is 1.
inline void draw_linear(const LinearIntegerCase& c, const LinearIntegers& d, uint64_t seed) {
  const LinearTokenFloats t = token_floats(c);
  const size_t tokens = size_t(c.tokens);
  Random random(seed);
  const int spread = c.head_dim > 64 ? 20 : c.head_dim > 16 ? 40 : 128;
  for (size_t i = 0; i < tokens; ++i) {
    const bool silent = i >= tokens / 4 && i < tokens / 4 * 3;
    for (size_t n = 0; n < t.query; ++n) d.query[i * t.query + n] = int8_t(random.between(-128, 127));
    for (size_t n = 0; n < t.key; ++n) d.key[i * t.key + n] = silent ? int8_t(0) : int8_t(random.between(-spread, spread - 1));
    for (size_t n = 0; n < t.value; ++n) d.value[i * t.value + n] = silent ? int8_t(0) : int8_t(random.between(-128, 127));
    for (size_t n = 0; n < t.beta; ++n) d.beta[i * t.beta + n] = uint16_t(random.between(0, 32768));
    for (size_t n = 0; n < t.gates; ++n) {
      const uint32_t kind = random.bits() % 64;
      d.gates[i * t.gates + n] = silent ? uint16_t(8000) : kind == 0 ? uint16_t(0) : uint16_t(random.between(16384, 32768));
    }
  }
}

constexpr attend::core::LinearScale linear_digest_scale = attend::core::linear_scale(1.0 / 127, 1.0 / 40000);

inline attend::core::IntegerLinearAttention linear_call(const LinearIntegerCase& c, const LinearIntegers& d, int first,
                                                        int end) {
  const LinearTokenFloats t = token_floats(c);
  const ptrdiff_t key_heads = c.kv_heads, value_heads = c.value_heads, width = c.head_dim, gates = ptrdiff_t(gate_width(c));
  attend::core::IntegerLinearAttention call{};
  call.query = {d.query + size_t(first) * t.query, c.query_heads * width, width};
  call.key = {d.key + size_t(first) * t.key, key_heads * width, width};
  call.value = {d.value + size_t(first) * t.value, value_heads * c.value_dim, c.value_dim};
  call.gates = {d.gates + size_t(first) * t.gates, value_heads * gates, gates};
  call.beta = {d.beta + size_t(first) * t.beta, value_heads, 1};
  call.output = {d.output + size_t(first) * t.output, ptrdiff_t(t.output), c.value_dim};
  call.state = d.state;
  call.query_heads = c.query_heads, call.kv_heads = c.kv_heads, call.value_heads = c.value_heads;
  call.head_dim = c.head_dim, call.value_dim = c.value_dim;
  call.tokens = end - first;
  call.scales = &linear_digest_scale;
  return call;
}

inline uint64_t compute_digest(const LinearIntegerCase& c, void* memory) {
  const LinearIntegers d = linear_integer_data(c, memory);
  draw_linear(c, d, uint64_t(c.head_dim) * 1013u + uint64_t(c.value_dim));
  uint64_t first = 0;
  const LinearCut ways[] = {LinearCut::whole, LinearCut::tokens, LinearCut::parts, LinearCut::drafts};
  for (const LinearCut way : ways) {
    const size_t outputs = size_t(c.tokens) * token_floats(c).output;
    for (size_t i = 0; i < outputs; ++i) d.output[i] = 55;
    for (size_t i = 0; i < state_integers(c); ++i) d.state[i] = 0;
    run_linear_way(c, d, way);
    uint64_t hash = hash_bytes(hash_begin, d.output, outputs);
    for (size_t i = 0; i < state_integers(c); ++i) hash = hash_number(hash, uint32_t(d.state[i]));
    if (way == LinearCut::whole) first = hash;
    if (hash != first) return ~first;
  }
  return first;
}

}  // namespace attend_test
