// A call of everything that attend/c/linear_attention.h has, without a mistake: gated delta with a gate for each key dimension.
#pragma once

#include "attend/c/linear_attention.h"
#include "refusals.h"

namespace attend_test {
namespace refused_linear {

struct World : Choices {
  enum Call : unsigned {
    run = 1,
    append = 2,
    run_from = 4,
    init = 8,
    clear = 16,
    count = 32,
    numbers = 64,
    save = 128,
    load = 256,
    set_numbers = 512
  };
  static constexpr int tokens = 5, queries = 4, keys = 1, values = 2, key_dim = 3, value_dim = 5;
  static constexpr std::size_t state_floats = values * (key_dim * value_dim + 1), state_bytes = 64 + 4 * state_floats;

  World() {
    attend_gated_delta_by_key_rule_init(&linear, sizeof linear);
    linear.query_heads = queries, linear.kv_heads = keys, linear.value_heads = values;
    linear.head_dim = key_dim, linear.value_dim = value_dim, linear.tokens = tokens;
    linear.query.data = q, linear.key.data = k, linear.value.data = v, linear.log_decay.data = g, linear.beta.data = b;
    linear.output.data = out, linear.documents = {boundaries, 2};
    Random(1).fill(q, sizeof q / sizeof(float)), Random(2).fill(k, sizeof k / sizeof(float));
    Random(3).fill(v, sizeof v / sizeof(float)), Random(4).fill(b, sizeof b / sizeof(float));
    Random(5).fill(g, sizeof g / sizeof(float));
    CHECK(attend_linear_state_init(&linear, memory.data(), state_bytes, &state) == ATTEND_OK);
    CHECK(attend_linear_append(&linear, state) == ATTEND_OK);
    CHECK(attend_linear_save(state, bytes_of_state, sizeof bytes_of_state) == ATTEND_OK);
  }
  World(const World&) = delete;

  std::vector<unsigned char> bytes() { return bytes_with(*this, 512, memory, work, fresh); }
  attend_status call(unsigned which) {
    if (which == run) return attend_linear_run(given, state);
    if (which == append) return attend_linear_append(given, state);
    if (which == run_from) return attend_linear_run_from(given, state, workspace, workspace_size);
    if (which == init) return attend_linear_state_init(given, new_memory, memory_size, &made);
    if (which == clear) return attend_linear_state_clear(state);
    if (which == count) return attend_linear_state_tokens(state, counted);
    if (which == numbers) return attend_linear_state_numbers(state, written);
    if (which == set_numbers) return attend_linear_state_set_numbers(state, written);
    if (which == save) return attend_linear_save(state, kept, kept_size);
    return attend_linear_load(state, kept, kept_size);
  }
  template <class Init>
  static const attend_linear_rule* rule_of(Init init_of) {
    attend_linear_attention other;
    CHECK(init_of(&other, sizeof other) == ATTEND_OK);
    return other.rule;
  }
  void* head(std::size_t word) { return static_cast<unsigned char*>(memory.data()) + 4 * word; }

  float q[tokens * queries * key_dim], k[tokens * keys * key_dim + 16], v[tokens * values * value_dim];
  float g[tokens * values * key_dim], b[tokens * values + 16], out[tokens * queries * value_dim], wide[state_floats];
  std::int32_t boundaries[3] = {0, 2, tokens};
  unsigned char bytes_of_state[40 + 4 * state_floats];
  Aligned memory{512}, work{512}, fresh{512};
  attend_linear_attention linear;
  const attend_linear_attention* given = &linear;
  attend_linear_state *state = nullptr, *made = nullptr;
  void *workspace = work.data(), *new_memory = fresh.data(), *kept = bytes_of_state;
  std::size_t workspace_size = 4 * key_dim * value_dim, memory_size = state_bytes, kept_size = sizeof bytes_of_state;
  std::uint64_t total = 0, *counted = &total;
  float* written = wide;
};

}  // namespace refused_linear
}  // namespace attend_test
