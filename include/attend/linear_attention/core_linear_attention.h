// Linear attention under the typed surface: a plain struct of pointers, extents and strides, and functions that take it.
// Nothing here is checked. All extents and strides count numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../core/attention.h"
#include "../core/saved.h"
#include "core_convolution.h"

namespace attend {

// How a state takes a token: with a gate or without, by the delta rule or by adding.
//
//   linear       S += k v                         gated        S = e^g S + k v
//   delta        S += k beta (v - k S)            gated_delta  S = e^g S + k beta (v - k e^g S)
enum class LinearRule { linear, gated, delta, gated_delta };

// What has a gate g of its own: each value head, or each key dimension of each of them.
enum class Decay { per_head, per_key };

namespace core {

[[gnu::always_inline]] constexpr bool has_gate(LinearRule rule) {
  return rule == LinearRule::gated || rule == LinearRule::gated_delta;
}
[[gnu::always_inline]] constexpr bool has_beta(LinearRule rule) {
  return rule == LinearRule::delta || rule == LinearRule::gated_delta;
}

// The memory of a state, one float for each key dimension and value column of each value head, and what has decayed.
// panels is ceil(value_dim / panel_keys), and the last panel of a head is narrower:
//
//   S        [value_heads][panels][head_dim][panel_keys]
//   decayed  [value_heads][panels]: what tokens have added up to since small numbers of the head were swept to 0 (gates.h);
//            the same number in all panels of a head
[[gnu::always_inline]] constexpr size_t linear_head_floats(int head_dim, int value_dim) {
  return size_t(head_dim) * size_t(value_dim);
}
constexpr size_t linear_state_floats(int value_heads, int head_dim, int value_dim) {
  return size_t(value_heads) * (linear_head_floats(head_dim, value_dim) + size_t(panel_count(value_dim)));
}

// Whether int counts the numbers of a head, and those that a kernel keeps of a token for all its heads: others are refused.
constexpr bool is_linear_head(int query_heads, int value_heads, int head_dim, int value_dim) {
  return int64_t(head_dim) * value_dim <= INT32_MAX && (int64_t(query_heads / value_heads) + 2) * head_dim <= INT32_MAX;
}

// A state: as linear_state_floats has it, but numbers of 32 bits, S * 2^exponent in steps of keys and values; and behind them
// three numbers for each panel of each head: exponent, bound, tokens since it was scaled (of linear_run).
constexpr int linear_run = 8;
constexpr size_t linear_state_integers(int value_heads, int head_dim, int value_dim) {
  return size_t(value_heads) * (linear_head_floats(head_dim, value_dim) + 3 * size_t(panel_count(value_dim)));
}

// Where number d of a column of a head's matrix lies.
constexpr size_t linear_state_index(int head_dim, int value_dim, int head, int d, int column) {
  return (size_t(head) * size_t(value_dim) + size_t(column - column % panel_keys)) * size_t(head_dim) +
         size_t(d * detail::smaller(value_dim - column + column % panel_keys, panel_keys) + column % panel_keys);
}

// One call: for each value head, its state takes tokens first … tokens - 1 in order, and after each of them is read:
//
//   output[t][h] = scale * query[t][h] S
//
// There are as many outputs as the larger of query_heads and value_heads, and the smaller divides it; value head h has the key
// of head h / (value_heads / kv_heads). Of tokens that do not exist nothing is read and nothing is written.
struct LinearExtents {
  const int32_t* boundaries;  // [documents + 1]: document i > 0 begins with token boundaries[i], from an empty state
  int documents;              // 0: the tokens are one
  int query_heads, kv_heads, value_heads, head_dim, value_dim;
  int first, tokens;
};
struct LinearAttention : LinearExtents {
  Tensor<const float> query;  // no data: tokens are taken and there are no outputs
  Tensor<const float> key;    // kv_heads
  Tensor<const float> value;  // value_heads
  Tensor<const float> gates;  // g, at most 0, of value_heads: one number, or head_dim side by side; only of rules with a gate
  Tensor<const float> beta;   // of value_heads: one number; only of delta rules
  Tensor<float> output;
  float* state;       // that moves on, linear_state_floats
  const float* from;  // where state is null: what the call begins with; null: an empty state
  float* work;        // linear_head_floats, where state is null
  float scale;
  // On hosts: both are arrays, [value_heads][head_dim][value_dim]. The call begins with `from` and leaves the state, which may lie
  // there, too. What it has decayed by is not in it: see set_numbers.
  bool is_plain;
};

// Computes a part of a call, a range of value heads and panels of columns; 0 of 1 is the whole. Parts of a call whose state
// moves on may run side by side. Without a gate, decay is per_head.
template <LinearRule rule, Decay decay>
void run_linear_attention(const LinearAttention& call, int part, int parts);

// The most stack that a call takes, in bytes, as config::stack_bytes is: hosts compute gates of key dimensions and turn weights there.
#if ATTEND_EMBEDDED
inline constexpr size_t linear_attention_stack_bytes = sizeof(void*) == 8 ? 1280 : 896;
#else
inline constexpr size_t linear_attention_stack_bytes = 4 * size_t(config::decode_stack_floats) + 4096;
#endif

// A saved state: words of 32 bits, the lowest byte first; this head, then the floats of the state, with positive zeros and one
// NaN, 0x7fc00000. The state of a convolution has the rule conv_rule, decay 0, one head, its width as head_dim and its channels
// as value_dim; in integers its numbers are bytes, and zeros fill up the last word.
struct LinearHead {
  uint32_t magic;         // linear_magic
  uint32_t bits_version;  // ATTEND_BITS_VERSION of who saved it
  uint32_t check;         // hash_with (core/saved.h) from linear_magic over all other words in order
  uint32_t rule, decay;   // integers add integer_rule to the rule
  int32_t value_heads, head_dim, value_dim;
  uint32_t tokens[2];  // that the state has taken, the lower half first
};
inline constexpr uint32_t linear_magic = 0x4c537441;  // "AtSL"
inline constexpr uint32_t conv_rule = 4, integer_rule = 256;

constexpr size_t saved_numbers(const LinearHead& of) {
  return of.rule == conv_rule                  ? conv_state_floats(of.value_dim, of.head_dim)
         : of.rule == conv_rule + integer_rule ? (conv_state_floats(of.value_dim, of.head_dim) + 3) / 4
         : of.rule >= integer_rule             ? linear_state_integers(of.value_heads, of.head_dim, of.value_dim)
                                               : linear_state_floats(of.value_heads, of.head_dim, of.value_dim);
}

// The caller sets rule, decay and extents of the head, for save its tokens too; save sets the rest. load refuses bytes that are
// damaged, or whose rule, decay or extents differ from the head's, before anything is written; then it sets head.tokens.
void save(LinearHead& head, const float* state, uint8_t* bytes);
enum class LinearLoaded { ok, damaged, other_bits, other_shape };
LinearLoaded load(LinearHead& head, const uint8_t* bytes, size_t size, float* state);
// States in integers: int32_t, for which compilers have different names on one processor.
void save(LinearHead& head, const void* state, uint8_t* bytes);
LinearLoaded load(LinearHead& head, const uint8_t* bytes, size_t size, void* state);
void save(LinearHead& head, const int8_t* state, uint8_t* bytes);
LinearLoaded load(LinearHead& head, const uint8_t* bytes, size_t size, int8_t* state);

// S as an array [value_heads][head_dim][value_dim]. What a state has decayed by is not among its numbers: one that was set
// sweeps small ones to 0 before its next token, if its rule sweeps.
void get_numbers(const LinearHead& of, const float* state, float* numbers);
void set_numbers(const LinearHead& of, const float* numbers, float* state);

// The logarithms of gates from what a projection gives: numbers z of tokens, in rows of `width`; width / rate_count side by
// side have a rate together. The result may be where z is.
struct GateInputs {
  const float* from;
  const float* bias;  // [width], or null for 0
  const float* rates;
  float* to;
  int tokens, width, rate_count;
  float lower_bound;  // of bounded_gates
};
void decay_gates(const GateInputs& gates);    // rate * ln(1 + e^(z + bias))
void bounded_gates(const GateInputs& gates);  // lower_bound / (1 + e^-(rate * (z + bias)))

// Whether no number is infinite or NaN.
bool are_finite(const float* numbers, size_t count);

// Whether a state with this head has none; in integers, whether it has not diverged.
bool are_finite(const LinearHead& head, const float* state);
bool are_finite(const LinearHead& head, const void* state);

}  // namespace core
}  // namespace attend
