// The digest of linear attention: outputs and the state behind the last token, which are the same in every cut into calls, in
// parts, and where drafts are read from a state that stays and appended then. Freestanding, as plain_digest.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../support/placed.h"
#include "../support/random.h"
#include "attend/linear_attention/core_linear_attention.h"
#include "hash.h"

namespace attend_test {

using attend::Decay;
using attend::LinearRule;

struct LinearAttentionCase {
  LinearRule rule;
  Decay decay;
  int query_heads, kv_heads, value_heads, head_dim, value_dim, tokens;
};
constexpr LinearAttentionCase linear_attention(LinearRule rule, Decay decay, int query_heads, int kv_heads, int value_heads,
                                               int head_dim, int value_dim, int tokens) {
  return {rule, decay, query_heads, kv_heads, value_heads, head_dim, value_dim, tokens};
}

constexpr int output_heads(const LinearAttentionCase& c) {
  return c.query_heads > c.value_heads ? c.query_heads : c.value_heads;
}
constexpr size_t gate_width(const LinearAttentionCase& c) { return c.decay == Decay::per_key ? size_t(c.head_dim) : 1; }
constexpr size_t state_floats(const LinearAttentionCase& c) {
  return attend::core::linear_state_floats(c.value_heads, c.head_dim, c.value_dim);
}

// Floats of a token: query, key, value, gates, beta; then its outputs.
struct LinearTokenFloats {
  size_t query, key, value, gates, beta, output;
};
constexpr LinearTokenFloats token_floats(const LinearAttentionCase& c) {
  return {size_t(c.query_heads * c.head_dim),
          size_t(c.kv_heads * c.head_dim),
          size_t(c.value_heads * c.value_dim),
          attend::core::has_gate(c.rule) ? size_t(c.value_heads) * gate_width(c) : 0,
          attend::core::has_beta(c.rule) ? size_t(c.value_heads) : 0,
          size_t(output_heads(c) * c.value_dim)};
}
constexpr size_t digest_bytes(const LinearAttentionCase& c) {
  const LinearTokenFloats t = token_floats(c);
  return sizeof(float) * (size_t(c.tokens) * (t.query + t.key + t.value + t.gates + t.beta + t.output) + state_floats(c) +
                          attend::core::linear_head_floats(c.head_dim, c.value_dim));
}

struct LinearData {
  float *query, *key, *value, *gates, *beta, *output, *state, *work;
};
inline LinearData linear_data(const LinearAttentionCase& c, float* memory) {
  const LinearTokenFloats t = token_floats(c);
  const auto take = [&memory](size_t count) { return take_next<float>(memory, count); };
  const size_t tokens = size_t(c.tokens);
  return {take(tokens * t.query), take(tokens * t.key),
          take(tokens * t.value), take(tokens * t.gates),
          take(tokens * t.beta),  take(tokens * t.output),
          take(state_floats(c)),  take(attend::core::linear_head_floats(c.head_dim, c.value_dim))};
}

// Numbers of ordinary size; between a quarter and three quarters of the tokens there is silence, in which gates take away e^-4
// each. Now and then a gate is 0, and one is 1.
inline void draw_linear(const LinearAttentionCase& c, const LinearData& d, uint64_t seed) {
  const LinearTokenFloats t = token_floats(c);
  const size_t tokens = size_t(c.tokens);
  Random random(seed);
  const float spread = c.head_dim > 64 ? 0.125f : c.head_dim > 16 ? 0.25f : 0.5f;
  random.fill(d.query, tokens * t.query), random.fill(d.key, tokens * t.key, spread);
  random.fill(d.value, tokens * t.value), random.fill(d.gates, tokens * t.gates), random.fill(d.beta, tokens * t.beta);
  in_environment(float_environments[0], [&] {
    for (size_t i = 0; i < tokens; ++i) {
      const bool silent = i >= tokens / 4 && i < tokens / 4 * 3;
      for (size_t n = 0; n < t.key && silent; ++n) d.key[i * t.key + n] = 0.0f;
      for (size_t n = 0; n < t.value && silent; ++n) d.value[i * t.value + n] = 0.0f;
      for (size_t n = 0; n < t.beta; ++n) d.beta[i * t.beta + n] = d.beta[i * t.beta + n] * 0.5f + 0.5f;
      for (size_t n = 0; n < t.gates; ++n) {
        float& gate = d.gates[i * t.gates + n];
        const uint32_t kind = random.bits() % 64;
        gate = silent ? gate - 4.0f : kind == 0 ? -20.0f : kind == 1 ? 0.0f : gate * 0.5f - 0.5f;
      }
    }
  });
}

inline attend::core::LinearAttention linear_call(const LinearAttentionCase& c, const LinearData& d, int first, int end) {
  const LinearTokenFloats t = token_floats(c);
  const auto of = [first](auto* data, size_t floats, size_t heads) {
    using Number = typename attend::core::Tensor<float>;
    return Number{data + size_t(first) * floats, ptrdiff_t(floats), ptrdiff_t(heads == 0 ? 0 : floats / heads)};
  };
  attend::core::LinearAttention call{};
  call.query = of(d.query, t.query, size_t(c.query_heads));
  call.key = of(d.key, t.key, size_t(c.kv_heads));
  call.value = of(d.value, t.value, size_t(c.value_heads));
  call.gates = of(d.gates, t.gates, size_t(c.value_heads));
  call.beta = of(d.beta, t.beta, size_t(c.value_heads));
  call.output = of(d.output, t.output, size_t(output_heads(c)));
  call.state = d.state;
  call.query_heads = c.query_heads, call.kv_heads = c.kv_heads, call.value_heads = c.value_heads;
  call.head_dim = c.head_dim, call.value_dim = c.value_dim;
  call.tokens = end - first;
  call.scale = 0.75f;
  return call;
}

template <class Call>
void run_linear_case(const LinearAttentionCase& c, const Call& call, int part = 0, int parts = 1) {
  using namespace attend::core;
  constexpr Decay head = Decay::per_head, key = Decay::per_key;
  switch (c.rule) {
    case LinearRule::linear:
      return run_linear_attention<LinearRule::linear, head>(call, part, parts);
    case LinearRule::gated:
      return c.decay == key ? run_linear_attention<LinearRule::gated, key>(call, part, parts)
                            : run_linear_attention<LinearRule::gated, head>(call, part, parts);
    case LinearRule::delta:
      return run_linear_attention<LinearRule::delta, head>(call, part, parts);
    case LinearRule::gated_delta:
      return c.decay == key ? run_linear_attention<LinearRule::gated_delta, key>(call, part, parts)
                            : run_linear_attention<LinearRule::gated_delta, head>(call, part, parts);
  }
}

// How the tokens are cut into calls. No bit depends on it.
enum class LinearCut { whole, tokens, parts, drafts };

template <class Case, class Data>
void run_linear_way(const Case& c, const Data& d, LinearCut way) {
  if (way == LinearCut::whole) run_linear_case(c, linear_call(c, d, 0, c.tokens));
  for (int i = 0; i < c.tokens && way == LinearCut::tokens; ++i) run_linear_case(c, linear_call(c, d, i, i + 1));
  for (int part = 3; part-- > 0 && way == LinearCut::parts;) run_linear_case(c, linear_call(c, d, 0, c.tokens), part, 3);
  if (way != LinearCut::drafts) return;
  const int accepted = c.tokens / 3, steps[] = {0, accepted, c.tokens};
  for (int step = 0; step < 2; ++step) {
    auto call = linear_call(c, d, steps[step], c.tokens);  // to the end: drafts of which some are taken
    call.from = d.state, call.state = nullptr, call.work = d.work;
    run_linear_case(c, call);
    call = linear_call(c, d, steps[step], steps[step + 1]);
    call.query.data = nullptr, call.output.data = nullptr;
    run_linear_case(c, call);
  }
}

// Outputs of silence, some of whose terms processors flush that flush subnormal numbers: below 2^-80 they are 0.
inline void leave_out_small(float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, numbers + i, sizeof bits);
    if ((bits & 0x7fffffffu) < (127u - 80u) << 23) numbers[i] = 0.0f;
  }
}

inline uint64_t compute_digest(const LinearAttentionCase& c, void* memory) {
  const LinearData d = linear_data(c, static_cast<float*>(memory));
  draw_linear(c, d, uint64_t(c.head_dim) * 1009u + uint64_t(c.value_dim));
  uint64_t first = 0;
  const LinearCut ways[] = {LinearCut::whole, LinearCut::tokens, LinearCut::parts, LinearCut::drafts};
  for (const LinearCut way : ways) {
    const size_t outputs = size_t(c.tokens) * token_floats(c).output;
    for (size_t i = 0; i < outputs; ++i) d.output[i] = d.work[0];
    for (size_t i = 0; i < state_floats(c); ++i) d.state[i] = 0.0f;
    run_linear_way(c, d, way);
    leave_out_small(d.output, outputs);
    const uint64_t hash = hash_floats(hash_floats(hash_begin, d.output, outputs), d.state, state_floats(c));
    if (way == LinearCut::whole) first = hash;
    if (hash != first) return ~first;
  }
  return first;
}

}  // namespace attend_test
