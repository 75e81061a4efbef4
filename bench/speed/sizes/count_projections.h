// Executed instructions of projections, and of linear attention in integers; and what all counts are made with.
#pragma once

#include "../../../tests/support/random.h"
#include "../../boards/instructions.h"
#include "../../boards/platform.h"
#include "attend/layers/core_linear.h"
#include "attend/linear_attention/core_linear_integer.h"

namespace {

// Memory for arrays, from its beginning on.
class Memory {
 public:
  float* take(size_t floats) {
    float* const taken = next_;
    next_ += (floats + 3) / 4 * 4;
    return taken;
  }

 private:
  float* next_ = firmware::free_memory().floats;
};

template <class... Arrays>
void fill(size_t floats, Arrays... arrays) {
  attend_test::Random random(1);
  (random.fill(arrays, floats), ...);
}

void report(uint64_t instructions, uint64_t multiply_accumulates) {
  firmware::print_per(instructions, multiply_accumulates);
  firmware::print(" instructions per multiply-accumulate, ");
  firmware::print_number(instructions);
  firmware::print(" in all\n");
}

// A projection of some tokens, 128 x 128.
struct LinearCall {
  const char* name;
  void (*run)(const attend::core::Linear&);
  attend::core::Format format;
  bool panels;
  int tokens;
};

constexpr LinearCall linear_calls[] = {
    {"packed", attend::core::run_linear<attend::core::Format::float32>, attend::core::Format::float32, true, 1},
    {"rows", attend::core::run_linear<attend::core::Format::float32>, attend::core::Format::float32, false, 1},
    {"float16", attend::core::run_linear<attend::core::Format::float16>, attend::core::Format::float16, true, 1},
    {"float16_rows", attend::core::run_linear<attend::core::Format::float16>, attend::core::Format::float16, false, 1},
    {"bfloat16", attend::core::run_linear<attend::core::Format::bfloat16>, attend::core::Format::bfloat16, true, 1},
    {"int8", attend::core::run_linear<attend::core::Format::int8>, attend::core::Format::int8, true, 1},
    {"int8_rows", attend::core::run_linear<attend::core::Format::int8>, attend::core::Format::int8, false, 1},
    {"packed_16", attend::core::run_linear<attend::core::Format::float32>, attend::core::Format::float32, true, 16},
    {"rows_16", attend::core::run_linear<attend::core::Format::float32>, attend::core::Format::float32, false, 16},
    {"int8_16", attend::core::run_linear<attend::core::Format::int8>, attend::core::Format::int8, true, 16},
    {"int4", attend::core::run_linear<attend::core::Format::int4>, attend::core::Format::int4, true, 1},
    {"int4_rows", attend::core::run_linear<attend::core::Format::int4>, attend::core::Format::int4, false, 1},
    {"int4_16", attend::core::run_linear<attend::core::Format::int4>, attend::core::Format::int4, true, 16},
};

void count_linear(const LinearCall& call) {
  using namespace attend;
  constexpr int width = 128;
  Memory memory;
  core::Linear linear{};
  float* const weights = memory.take(size_t(width) * width);
  float* const scales = memory.take(width);
  float* const input = memory.take(size_t(call.tokens) * width);
  attend_test::Random random(1);
  random.fill(weights, size_t(width) * width);
  // Numbers of two bytes are below 2 then, and none of them is infinite or NaN, which no weight is.
  if (call.format != core::Format::float32) {
    for (size_t i = 0; i < size_t(width) * width; ++i)
      weights[i] = attend::bits_to<float>(attend::bits_to<uint32_t>(weights[i]) & 0xbfffbfffu);
  }
  random.fill(scales, width);
  random.fill(input, size_t(call.tokens) * width);
  linear.input = input;
  linear.output = memory.take(size_t(call.tokens) * width);
  linear.weights = weights;
  linear.scales = call.format == core::Format::int8 ? scales : nullptr;
  linear.input_stride = linear.output_stride = linear.weight_stride = width;
  linear.inputs = linear.outputs = width;
  linear.tokens = call.tokens;
  linear.panels = call.panels;
  linear.work = memory.take(core::linear_work_floats);
  const uint64_t instructions = firmware::count_instructions([&] { call.run(linear); });
  firmware::print("project ");
  firmware::print(call.name);
  firmware::print(" ");
  report(instructions, uint64_t(call.tokens) * width * width);
}

// The same in integers, of inputs with a zero point.
void count_integer_linear(const char* name, int tokens) {
  using namespace attend;
  constexpr int width = 128;
  Memory memory;
  const auto bytes = [&](int rows) { return reinterpret_cast<int8_t*>(memory.take(size_t(rows) * width / sizeof(float))); };
  int8_t *const weights = bytes(width), *const input = bytes(tokens), *const output = bytes(tokens);
  attend_test::Random random(1);
  for (int i = 0; i < width * width; ++i) weights[i] = int8_t(random.between(-127, 127));
  for (int i = 0; i < tokens * width; ++i) input[i] = int8_t(random.between(-128, 127));
  const core::IntegerMultiplier multiplier = core::integer_multiplier(0x1p-10);
  core::IntegerLinear linear{};
  linear.input = input;
  linear.output = output;
  linear.weights = weights;
  linear.multipliers = &multiplier;
  linear.input_stride = linear.output_stride = linear.weight_stride = width;
  linear.inputs = linear.outputs = width;
  linear.tokens = tokens;
  linear.input_zero = 5;
  const uint64_t instructions = firmware::count_instructions([&] { core::run_integer_linear<1>(linear); });
  firmware::print("project ");
  firmware::print(name);
  firmware::print(" ");
  report(instructions, uint64_t(tokens) * width * width);
}

// Linear attention in integers, for each number of the state: 8 tokens, of which one scales it.
void count_linear_attention() {
  using namespace attend;
  constexpr int width = 64, tokens = core::linear_run;
  Memory memory;
  int8_t* const bytes = reinterpret_cast<int8_t*>(memory.take(tokens * width));
  attend_test::Random random(1);
  for (int i = 0; i < 3 * tokens * width; ++i) bytes[i] = int8_t(random.between(-40, 39));
  static uint16_t gates[tokens], beta[tokens];
  static int32_t state[core::linear_state_integers(1, width, width)];
  for (uint16_t& gate : gates) gate = 32000;
  for (uint16_t& each : beta) each = 16384;
  static constexpr core::LinearScale scale = core::linear_scale(1.0 / 127, 1.0 / 40000);
  core::IntegerLinearAttention call{};
  call.query_heads = call.kv_heads = call.value_heads = 1;
  call.head_dim = call.value_dim = width, call.tokens = tokens;
  call.query = {bytes, width, 0}, call.key = {bytes + tokens * width, width, 0},
  call.value = {bytes + 2 * tokens * width, width, 0};
  call.output = {bytes + 3 * tokens * width, width, 0};
  call.gates = {gates, 1, 0}, call.beta = {beta, 1, 0};
  call.state = state, call.scales = &scale;
  const uint64_t instructions =
      firmware::count_instructions([&] { core::run_linear_attention<LinearRule::gated_delta, Decay::per_head>(call, 0, 1); });
  firmware::print("linear gated_delta ");
  report(instructions, uint64_t(tokens) * width * width);
}

// The same in floats, for each multiply-accumulate: 7 operations for each number of the state are 3.5 of them.
void count_linear_floats() {
  using namespace attend;
  constexpr int width = 64, tokens = 8;
  Memory memory;
  float *const query = memory.take(tokens * width), *const key = memory.take(tokens * width),
               *const value = memory.take(tokens * width);
  fill(tokens * width, query, key, value);
  static float gates[tokens], beta[tokens];
  for (float& gate : gates) gate = -0.1f;
  for (float& each : beta) each = 0.01f;
  core::LinearAttention call{};
  call.query_heads = call.kv_heads = call.value_heads = 1;
  call.head_dim = call.value_dim = width, call.tokens = tokens;
  call.query = {query, width, 0}, call.key = {key, width, 0}, call.value = {value, width, 0};
  call.output = {memory.take(tokens * width), width, 0};
  call.gates = {gates, 1, 0}, call.beta = {beta, 1, 0};
  call.state = memory.take(core::linear_state_floats(1, width, width)), call.scale = 0.125f;
  for (size_t i = 0; i < core::linear_state_floats(1, width, width); ++i) call.state[i] = 0.0f;
  const uint64_t instructions =
      firmware::count_instructions([&] { core::run_linear_attention<LinearRule::gated_delta, Decay::per_head>(call, 0, 1); });
  firmware::print("linear floats ");
  report(instructions, uint64_t(tokens) * width * width * 7 / 2);
}

}  // namespace
