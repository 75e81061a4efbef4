// A call of everything that attend/c/layers.h has, without a mistake.
#pragma once

#include <vector>

#include "c_layer_cases.h"
#include "refusals.h"

namespace attend_test {
namespace refused_layers {

inline constexpr int width = 6, out_width = 4, new_tokens = 3, held = 5;

struct Small {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 4, value_dim = 3;
};

// Everything that a call can be given, in one piece of memory whose bytes can be compared.
struct World : TwoLayers<Small, width, out_width>, Choices {
  attend_team team = {0, 1, nullptr, nullptr};
  enum Calls {
    self = 1,
    cross = 2,
    remember = 4,
    project = 8,
    pack = 16,
    convert = 32,
    layer_norm = 64,
    rms_norm = 128,
    rotate = 256,
    additive_attention = 512,
    integers = 1024,
    scaled = 2048,
    turned = 4096,
    l2_norm = 8192,
    gated_norm = 16384
  };

  World() {
    Random(1).fill(x[0], sizeof x / sizeof(float));
    Random(2).fill(y[0], sizeof y / sizeof(float));
    Random(3).fill(numbers, sizeof numbers / sizeof(float));
    add_steps(4, ATTEND_HALVES, 0.5f);
    new_cache(8, ATTEND_FLOAT16, ATTEND_INT8);
    problem.options = ATTEND_CAUSAL, problem.queries = new_tokens;
    CHECK(project_memory(x[0], held) == ATTEND_OK);
    projections[0] = {c_weights(wk), y[0]}, projections[1] = {c_weights(wv), y[4]};
    norm = {query_norm, nullptr, 4, 1e-5f};
    gated = {norm, 2, ATTEND_SILU, ATTEND_GATE_LAST};
    attend_problem_init(&additive, sizeof additive);
    additive.query_heads = additive.kv_heads = 1, additive.head_dim = additive.value_dim = 4;
    additive.queries = 2, additive.keys = 3;
    additive.query.data = x[0], additive.key.data = x[2], additive.value.data = x[4], additive.output.data = y[0];
    to_rotate = {y, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
    linear.weights = {integer_weights, nullptr, nullptr, integer_outputs, width, ATTEND_INT8, ATTEND_INTEGER_ROWS};
    linear.multipliers = multipliers, linear.multiplier_count = integer_outputs, linear.bias = integer_bias;
    linear.input_zero_point = -3, linear.output_zero_point = 4, linear.output_format = ATTEND_INT8;
    for (attend_integer_multiplier& by : multipliers) by = attend_integer_multiplier_of(0.01);
  }
  std::vector<unsigned char> bytes() {
    std::vector<unsigned char> all(sizeof(World));
    std::memcpy(all.data(), static_cast<const void*>(this), sizeof(World));
    const auto add = [&](const void* from, std::size_t count) {
      const auto* first = static_cast<const unsigned char*>(from);
      all.insert(all.end(), first, first + count);
    };
    add(memory->data(), 512), add(work.data(), 1 << 16), add(turns.data(), 16);
    return all;
  }
  attend_status call(unsigned which) {
    if (which == self) return attend_self_attention(given_problem, given_layer, given_x, given_y, given_work, work_size);
    if (which == cross) return attend_cross_attention(given_problem, given_layer, given_x, given_y, given_work, work_size);
    if (which == remember) return attend_project_memory(given_layer, given_x, tokens, given_work, work_size);
    if (which == project) return attend_project(x[0], 2, projections, 2, nullptr, 0);
    if (which == pack) return attend_pack_weights(&layer.key, work.data(), work_size, &packed_struct);
    if (which == convert)
      return attend_convert_weights(&projections[1].weights, convert_to, work.data(), work_size, new_scales, &converted);
    if (which == layer_norm) return attend_layer_norm(&norm, x[0], tokens, y[0]);
    if (which == rms_norm) return attend_rms_norm(&norm, x[0], tokens, y[0]);
    if (which == l2_norm) return attend_l2_norm(x[0], tokens, norm.width, norm.epsilon, y[0]);
    if (which == gated_norm) return attend_gated_rms_norm(&gated, x[0], numbers, tokens, y[0]);
    if (which == rotate) return attend_rotate(&c_rotary, &to_rotate, 2, 2, 4, 0);
    if (which == scaled) return attend_rotary_init_scaled(&c_rotary, turns.data(), 4, ATTEND_HALVES, base, given_scaling);
    if (which == turned) return attend_rotate_positions(&c_rotary, &to_rotate, 2, 2, 4, given_positions);
    if (which == integers) return attend_integer_project(given_linear, integer_x[0], integer_tokens, given_integer_y);
    return attend_additive_attention(&additive, numbers, work.data(), work_size);
  }

  float x[8][width], y[16][8], numbers[16];
  attend_projection projections[2];
  attend_weights packed_struct = {}, converted = {};
  int convert_to = ATTEND_INT8;
  float scales_memory[64], *new_scales = scales_memory;
  static constexpr int integer_outputs = 3;
  std::int8_t integer_x[2][width] = {{1, 2, 3}}, integer_weights[integer_outputs][width] = {{1}, {2}, {3}};
  std::int16_t integer_y[2][integer_outputs] = {};
  std::int32_t integer_bias[integer_outputs] = {5, 6, 7};
  attend_integer_multiplier multipliers[integer_outputs];
  attend_integer_linear linear = {};
  std::ptrdiff_t integer_tokens = 2;
  const attend_integer_linear* given_linear = &linear;
  void* given_integer_y = integer_y;
  attend_norm norm;
  attend_gated_norm gated;
  attend_output to_rotate;
  float base = 10000.0f, pair_factors[2] = {1.0f, 2.0f};
  alignas(8) double frequencies[2] = {1.0, 0.5};
  attend_rotary_scaling scaling = {ATTEND_ROTARY_YARN, 4.0f, 4096, 1.0f, 32.0f, 0, nullptr, 0, nullptr, 0.0f};
  const attend_rotary_scaling* given_scaling = &scaling;
  int axis_positions[2][2] = {{5, -6}, {7, 8}};
  attend_positions positions = {axis_positions[0], 2, 1, {1, 1}};
  const attend_positions* given_positions = &positions;
  attend_problem additive;
  Aligned work{1 << 20};
  std::size_t work_size = 1 << 20;
  std::ptrdiff_t tokens = new_tokens;  // of x that the memory is made of
  const attend_problem* given_problem = &problem;
  const attend_layer* given_layer = &layer;
  const float* given_x = x[0];
  float* given_y = y[0];
  void* given_work = work.data();
};

}  // namespace refused_layers
}  // namespace attend_test
