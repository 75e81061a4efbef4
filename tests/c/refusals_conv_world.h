// Calls of a causal convolution and of gates with all that they have, without a mistake.
#pragma once

#include "attend/c/linear_attention.h"
#include "refusals.h"

namespace attend_test {
namespace refused_conv {

struct World : Choices {
  enum Call : unsigned { run = 1, append = 2, run_from = 4, init = 8, decay = 16, bounded = 32 };
  static constexpr int tokens = 5, channels = 6, width = 3, stride = 8;
  static constexpr std::size_t state_floats = (width - 1) * channels, state_bytes = 64 + 4 * state_floats;

  World() {
    attend_causal_conv_init(&conv, sizeof conv);
    conv.channels = channels, conv.width = width, conv.tokens = tokens;
    conv.input = {x, 0, stride, ATTEND_DENSE}, conv.output = {y, 0, stride, 0};
    conv.weights = weights, conv.bias = bias, conv.activation = ATTEND_CONV_SILU, conv.documents = {boundaries, 2};
    Random(1).fill(x, sizeof x / sizeof(float)), Random(2).fill(weights, sizeof weights / sizeof(float));
    Random(3).fill(bias, sizeof bias / sizeof(float));
    CHECK(attend_conv_state_size(&conv) == state_bytes);
    CHECK(attend_conv_state_init(&conv, memory.data(), state_bytes, &state) == ATTEND_OK);
    CHECK(attend_causal_conv_append(&conv, state) == ATTEND_OK);
  }
  World(const World&) = delete;

  std::vector<unsigned char> bytes() { return bytes_with(*this, 256, memory, fresh); }
  attend_status call(unsigned which) {
    if (which == run) return attend_causal_conv_run(given, state);
    if (which == append) return attend_causal_conv_append(given, state);
    if (which == run_from) return attend_causal_conv_run_from(given, state);
    if (which == decay) return attend_decay_gate(gate_given, z, tokens, g);
    if (which == bounded) return attend_bounded_gate(gate_given, lower_bound, z, tokens, g);
    return attend_conv_state_init(given, new_memory, memory_size, &made);
  }
  void* head(std::size_t word) { return static_cast<unsigned char*>(memory.data()) + 4 * word; }

  float x[tokens * stride], y[tokens * stride], weights[channels * width + 16], bias[channels];
  float y_of_gate[tokens * channels] = {}, *z = x, *g = y_of_gate, lower_bound = -5;
  attend_gate gate = {weights, bias, channels, 2};
  const attend_gate* gate_given = &gate;
  std::int32_t boundaries[3] = {0, 2, tokens};
  Aligned memory{256}, fresh{256};
  attend_causal_conv conv;
  const attend_causal_conv* given = &conv;
  attend_linear_state *state = nullptr, *made = nullptr;
  void* new_memory = fresh.data();
  std::size_t memory_size = state_bytes;
};

}  // namespace refused_conv
}  // namespace attend_test
