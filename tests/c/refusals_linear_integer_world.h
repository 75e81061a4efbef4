// A call of everything that linear attention in integers has, without a mistake: gated delta with a gate for each key
// dimension.
#pragma once

#include "attend/c/linear_attention.h"
#include "refusals.h"

namespace attend_test {
namespace refused_linear_integer {

struct World : Choices {
  enum Call : unsigned { run = 1, append = 2, run_from = 4, init = 8, prepare = 16 };
  static constexpr int tokens = 5, heads = 2, key_dim = 3, value_dim = 5;
  static constexpr std::size_t state_bytes = 64 + 4 * heads * (key_dim * value_dim + 3);

  World() {
    attend_integer_scales_init(&scales, sizeof scales);
    scales.query_scale = scales.key_scale = 1.0 / 127, scales.value_scale = 0.02, scales.output_scale = 0.03;
    CHECK(attend_linear_prepare(&scales, key_dim, &constants) == ATTEND_OK);
    of_heads[0] = of_heads[1] = constants;
    attend_integer_gated_delta_by_key_rule_init(&linear, sizeof linear);
    linear.query_heads = linear.kv_heads = heads, linear.head_dim = key_dim, linear.value_dim = value_dim;
    linear.tokens = tokens, linear.documents = {boundaries, 2}, linear.constants = &constants;
    linear.query.data = q, linear.key.data = k, linear.value.data = v, linear.decay.data = g, linear.beta.data = b;
    linear.output.data = out;
    CHECK(attend_linear_state_size(&linear) == state_bytes);
    CHECK(attend_linear_state_init(&linear, memory.data(), state_bytes, &state) == ATTEND_OK);
    CHECK(attend_linear_append(&linear, state) == ATTEND_OK);
  }
  World(const World&) = delete;

  std::vector<unsigned char> bytes() { return bytes_with(*this, 256, memory, work, fresh); }
  attend_status call(unsigned which) {
    if (which == run) return attend_linear_run(&linear, state);
    if (which == append) return attend_linear_append(&linear, state);
    if (which == run_from) return attend_linear_run_from(&linear, state, work.data(), 4 * key_dim * value_dim);
    if (which == prepare) return attend_linear_prepare(given_scales, dim, made_constants);
    return attend_linear_state_init(&linear, fresh.data(), memory_size, &made);
  }
  template <class Init>
  static const attend_linear_rule* rule_of(Init init_of) {
    attend_linear_attention other;
    CHECK(init_of(&other, sizeof other) == ATTEND_OK);
    return other.rule;
  }

  std::int8_t q[tokens * heads * key_dim] = {1}, k[tokens * heads * key_dim] = {2}, v[tokens * heads * value_dim] = {3};
  std::int8_t out[tokens * heads * value_dim] = {};
  std::uint16_t g[tokens * heads * key_dim] = {4}, b[tokens * heads] = {5};
  float floats[tokens * heads * key_dim] = {};
  std::int32_t boundaries[3] = {0, 2, tokens};
  Aligned memory{256}, work{256}, fresh{256};
  attend_integer_scales scales;
  const attend_integer_scales* given_scales = &scales;
  std::ptrdiff_t dim = key_dim;
  attend_linear_constants constants, of_heads[heads], *made_constants = &constants;
  attend_linear_attention linear;
  attend_linear_state *state = nullptr, *made = nullptr;
  std::size_t memory_size = state_bytes;
};

}  // namespace refused_linear_integer
}  // namespace attend_test
