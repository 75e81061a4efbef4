// The calls of the C surface around attention touch nothing beside their arrays, whatever the widths are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include "attend/c/layers.h"

using namespace attend_test;

namespace {

constexpr int query_heads = 2, kv_heads = 1;

attend_cache* new_cache(GuardedArrays& arrays, const attend_problem& p) {
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = p.kv_heads, shape.head_dim = p.head_dim, shape.value_dim = p.value_dim, shape.max_tokens = 7;
  attend_cache* cache = nullptr;
  const std::size_t bytes = attend_cache_size(&shape);
  CHECK(attend_cache_init(&shape, arrays.work<char>(bytes), bytes, &cache) == ATTEND_OK);
  return cache;
}

}  // namespace

TEST_CASE("guards: the C surface's projections, norms, activations and rotary positions") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    constexpr int tokens = 3;
    const std::size_t numbers = std::size_t(tokens * width), weights = std::size_t(width * other);
    const float* const x = arrays.floats(numbers);
    const std::size_t work_bytes = ATTEND_PROJECTION_WORKSPACE_SIZE;
    void* const work = arrays.work<char>(work_bytes);
    attend_projection projection{};
    projection.weights = {arrays.floats(weights), nullptr,    arrays.floats(std::size_t(other)), other, width,
                          ATTEND_FLOAT32,         ATTEND_ROWS};
    const attend_weights floats = projection.weights;
    for (const int format : {ATTEND_FLOAT32, ATTEND_FLOAT16, ATTEND_BFLOAT16, ATTEND_INT8, ATTEND_INT4}) {
      if (format == ATTEND_INT4 && width % 32 != 0) continue;
      const std::size_t bytes = format == ATTEND_INT4 ? weights / ATTEND_INT4_INPUTS * ATTEND_INT4_BYTES
                                                      : weights * (format == ATTEND_FLOAT32 ? 4
                                                                   : format == ATTEND_INT8  ? 1
                                                                                            : 2);
      projection.weights = floats;
      if (format != ATTEND_FLOAT32) {
        float* const scales = format == ATTEND_INT8 ? arrays.output(std::size_t(other)) : nullptr;
        CHECK(attend_convert_weights(&floats, format, arrays.output<char>(bytes), bytes, scales, &projection.weights) ==
              ATTEND_OK);
      }
      for (const bool packed : {false, true}) {
        if (packed) {
          const std::size_t size = attend_packed_size(&projection.weights);
          CHECK(attend_pack_weights(&projection.weights, arrays.work<char>(size), size, &projection.weights) == ATTEND_OK);
        }
        projection.y = arrays.output(std::size_t(tokens * other));
        CHECK(attend_project(x, tokens, &projection, 1, work, work_bytes) == ATTEND_OK);
        CHECK(attend_project(x, 1, &projection, 1, nullptr, 0) == ATTEND_OK);
      }
    }
    attend_integer_linear linear = {};
    linear.weights = {arrays.integers(weights), nullptr, nullptr, other, width, ATTEND_INT8, ATTEND_INTEGER_ROWS};
    auto* const multipliers = arrays.output<attend_integer_multiplier>(std::size_t(other));
    for (int o = 0; o < other; ++o) multipliers[o] = attend_integer_multiplier_of(0.01 * (o + 1));
    auto* const multiplier = arrays.output<attend_integer_multiplier>(1);
    *multiplier = multipliers[other - 1];
    std::int32_t* const bias = arrays.zeros<std::int32_t>(std::size_t(other));
    linear.input_zero_point = 9;
    for (const bool packed : {false, true}) {
      if (packed) {
        const std::size_t size = attend_packed_size(&linear.weights);
        CHECK(attend_pack_weights(&linear.weights, arrays.work<char>(size), size, &linear.weights) == ATTEND_OK);
      }
      for (const bool common : {false, true}) {  // one multiplier for all outputs, and no bias
        linear.multipliers = common ? multiplier : multipliers, linear.multiplier_count = common ? 1 : other;
        linear.bias = common ? nullptr : bias;
        for (const int count : {1, tokens}) {
          const std::int8_t* const bytes = arrays.integers(std::size_t(count * width));
          linear.output_format = ATTEND_INT8;
          CHECK(attend_integer_project(&linear, bytes, count, arrays.output<char>(std::size_t(count * other))) == ATTEND_OK);
          linear.output_format = ATTEND_INT16;
          CHECK(attend_integer_project(&linear, bytes, count, arrays.output<std::int16_t>(std::size_t(count * other))) ==
                ATTEND_OK);
        }
      }
    }
    const attend_norm norm = {arrays.floats(std::size_t(width)), nullptr, width, 1e-5f};
    float* const y = arrays.output(numbers);
    CHECK(attend_rms_norm(&norm, x, tokens, y) == ATTEND_OK);
    CHECK(attend_layer_norm(&norm, x, tokens, arrays.output(numbers)) == ATTEND_OK);
    for (int activation = ATTEND_RELU; activation <= ATTEND_ERF; ++activation)
      CHECK(attend_activate(activation, x, y, width, arrays.output(std::size_t(width))) == ATTEND_OK);
    CHECK(attend_hadamard(x, tokens, width, arrays.output(numbers)) == ATTEND_OK);
    CHECK(attend_add(x, 0.5f, std::ptrdiff_t(numbers), y) == ATTEND_OK);
    for (const int pairs : {ATTEND_NEIGHBOURS, ATTEND_HALVES}) {
      attend_rotary rotary;
      std::uint64_t* const turns = arrays.output<std::uint64_t>(std::size_t(width));
      CHECK(attend_rotary_init(&rotary, turns, 2 * width, pairs, 10000.0f, 1.0f) == ATTEND_OK);
      float* const factors = arrays.output<float>(std::size_t(width));
      double* const frequencies = arrays.output<double>(std::size_t(width));
      std::fill_n(factors, width, 2.0f), std::fill_n(frequencies, width, 0.25);
      attend_rotary_scaling scaling = {ATTEND_ROTARY_LONG, 2, 9, 0, 0, 0, factors, 0, nullptr, 0};
      CHECK(attend_rotary_init_scaled(&rotary, turns, 2 * width, pairs, 10000.0f, &scaling) == ATTEND_OK);
      scaling = {ATTEND_ROTARY_FREQUENCIES, 0, 0, 0, 0, 0, nullptr, 0, frequencies, 0};
      CHECK(attend_rotary_init_scaled(&rotary, turns, 2 * width, pairs, 0.0f, &scaling) == ATTEND_OK);
      float* const heads = arrays.output(2 * numbers);
      std::memcpy(heads, x, numbers * sizeof(float));
      const attend_output at = {heads, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
      CHECK(attend_rotate(&rotary, &at, tokens, 1, 2 * width, 7) == ATTEND_OK);
      int* const numbers_of_tokens = arrays.output<int>(std::size_t(2 * tokens));
      std::fill_n(numbers_of_tokens, 2 * tokens, -3);
      const attend_positions positions = {numbers_of_tokens, 2, 0, {width - 1, 1}};
      CHECK(attend_rotate_positions(&rotary, &at, tokens, 1, 2 * width, &positions) == ATTEND_OK);
    }
  });
}

TEST_CASE("guards: the C surface's layers and additive attention") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    constexpr int tokens = 3, x_width = 5;
    const auto weights_of = [&](int outputs, int inputs) {
      return attend_weights{
          arrays.floats(std::size_t(outputs * inputs)), nullptr, nullptr, outputs, inputs, ATTEND_FLOAT32, ATTEND_ROWS};
    };
    attend_layer layer;
    attend_layer_init(&layer, sizeof layer);
    layer.query = weights_of(query_heads * width, x_width), layer.key = weights_of(width, x_width);
    layer.value = weights_of(other, x_width), layer.output = weights_of(x_width, query_heads * other);
    layer.query_norm = arrays.floats(std::size_t(width)), layer.key_norm = arrays.floats(std::size_t(width));
    const float* const x = arrays.floats(tokens * x_width);
    attend_problem p;
    attend_problem_init(&p, sizeof p);
    p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = width, p.value_dim = other, p.queries = tokens;
    const auto call =
        [&](attend_status (*of)(const attend_problem*, const attend_layer*, const float*, float*, void*, std::size_t)) {
          const std::size_t bytes = attend_layer_workspace_size(&p, &layer);
          CHECK(of(&p, &layer, x, arrays.output(tokens * x_width), arrays.work<char>(bytes), bytes) == ATTEND_OK);
        };
    p.keys = ATTEND_ALL_KEYS;
    call(attend_self_attention);
    p.options = ATTEND_CAUSAL;
    layer.cache = new_cache(arrays, p);
    call(attend_self_attention);
    p.options = 0;
    layer.cache = new_cache(arrays, p);
    const std::size_t bytes = attend_memory_workspace_size(&layer, tokens);
    CHECK(attend_project_memory(&layer, x, tokens, arrays.work<char>(bytes), bytes) == ATTEND_OK);
    call(attend_cross_attention);

    constexpr int keys = 20;
    attend_problem_init(&p, sizeof p);
    p.query_heads = p.kv_heads = 1, p.head_dim = width, p.value_dim = other, p.queries = tokens, p.keys = keys;
    p.query.data = arrays.floats(std::size_t(tokens * width)), p.key.data = arrays.floats(std::size_t(keys * width));
    p.value.data = arrays.floats(std::size_t(keys * other)), p.output.data = arrays.output(std::size_t(tokens * other));
    const std::size_t additive = attend_additive_workspace_size(&p);
    CHECK(attend_additive_attention(&p, arrays.floats(std::size_t(width)), arrays.work<char>(additive), additive) == ATTEND_OK);
  });
}

#endif
