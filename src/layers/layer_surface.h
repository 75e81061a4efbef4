// The internal interface of the C surface of layers (attend/c/layers.h).
#pragma once

#include "../c/surface.h"

#include "../../include/attend/c/layers.h"
#include "../../include/attend/layers/core_layer.h"
#include "../../include/attend/layers/core_linear.h"
#include "../../include/attend/layers/layer_blocks.h"

namespace attend::c_surface {

// Vectors side by side, [count][width] numbers.
inline Range check_vectors(Check& check, const void* data, ptrdiff_t count, ptrdiff_t width, attend_argument argument,
                           int bits = float_bits) {
  constexpr ptrdiff_t dense = ATTEND_DENSE;
  return check.place(data, extent_of({1, count, 1, width}, {dense, dense, dense}, Axes::token_head), bits, argument);
}

// Numbers that a call may leave out.
inline Range check_if_given(Check& check, const float* data, ptrdiff_t count, attend_argument argument) {
  return data == nullptr ? Range{} : check.array(data, count, float_bits, argument);
}

// A range that is read is the one that is written in its place, number by number or token by token, or lies apart from it.
inline void read_same(Memory& check, Range read, Range written) {
  if (read.begin != written.begin || read.end != written.end) check.read_last(read);
}

// Requires the fields that problems of one sequence, of floats in arrays or of a layer, leave as they were initialised.
inline void check_one_sequence(Check& check, const attend_problem& problem) {
  const auto floats = [](int format) { return format == ATTEND_DEFAULT_FORMAT || format == ATTEND_FLOAT32; };
  check.left_out(floats(problem.query_format), ATTEND_ARG_QUERY_FORMAT);
  check.left_out(floats(problem.key_format), ATTEND_ARG_KEY_FORMAT);
  check.left_out(floats(problem.value_format), ATTEND_ARG_VALUE_FORMAT);
  check.left_out(floats(problem.output_format), ATTEND_ARG_OUTPUT_FORMAT);
  check.left_out(problem.arithmetic == &float_arithmetic, ATTEND_ARG_ARITHMETIC);
  check.left_out(problem.batch == ATTEND_DEFAULT_BATCH || problem.batch == 1, ATTEND_ARG_BATCH);
  check.left_out(problem.cache == nullptr, ATTEND_ARG_CACHE);
  check.left_out(problem.pages.table == nullptr, ATTEND_ARG_PAGES);
  check.left_out(problem.states == nullptr, ATTEND_ARG_STATES);
  check.left_out(origin_of(problem) == 0, ATTEND_ARG_ORIGIN);
}

// Checks weights, which are all compared with what is written; the second takes weights of floats only.
void check_weights(Memory& check, const attend_weights& weights);
constexpr bool is_integer(const attend_weights& weights) { return weights.layout >= ATTEND_INTEGER_ROWS; }
inline void check_float_weights(Memory& check, const attend_weights& weights) {
  check_weights(check, weights);
  check.require(!is_integer(weights), ATTEND_CONFLICT, ATTEND_ARG_WEIGHTS_LAYOUT);
}
// Projects tokens; work is as in core::Linear.
void project(const attend_weights& weights, const float* from, int tokens, float* to, float* work, const Parts& cut = {0, 1});

inline void check_epsilon(Check& check, float epsilon) {
  check.require(core::is_epsilon(epsilon), ATTEND_OUT_OF_RANGE, ATTEND_ARG_EPSILON);
}

// Checks the result of attend_rotary_init, for heads of so many numbers.
void check_rotary(Memory& check, const attend_rotary* rotary, ptrdiff_t head_dim);
// For tokens whose first number is that; strides are the caller's.
core::Rotation rotation_of(const attend_rotary& rotary, float* first, int heads, ptrdiff_t head_stride);
inline core::Turns turns_of(const attend_rotary& rotary) { return {rotary.turns, rotary.factor}; }

// ---- The loop of an attend_layer over its tokens: include/attend/layers/layer_blocks.h, which typed calls share.

// The matrix of a layer as a LayerCall requires it.
struct LayerMatrix {
  template <bool one_token>
  void project(const float* from, int tokens, float* to, float* work, const detail::LayerTeam& team) const {
    c_surface::project(weights, from, tokens, to, work, {team.part, team.parts});
  }
  const attend_weights& weights;
};
struct RunTimeLayer {
  RunTimeLayer(const attend_layer& layer, const core::Problem& heads) : steps(layer), extents(heads) {}

  void prepare_queries(float* tokens, int position, int begin, int end) const {
    prepare(tokens, position, begin, end, extents.query_heads, steps.query_norm);
    const attend_query_factors& given = steps.query_factors;
    if (given.data == nullptr) return;
    const core::PositionFactors factors = {given.data, int(given.count), int(given.period), int(given.shift)};
    const int numbers = extents.query_heads * extents.head_dim;
    for (int i = begin; i < end; ++i) core::scale(factors.at(position + i), numbers, tokens + ptrdiff_t(i) * numbers);
  }
  void prepare_keys(float* tokens, int position, int begin, int end) const {
    prepare(tokens, position, begin, end, extents.kv_heads, steps.key_norm);
  }
  void prepare(float* tokens, int position, int begin, int end, int heads, const float* norm) const {
    const int dim = extents.head_dim, count = end - begin;
    tokens += ptrdiff_t(begin) * heads * dim, position += begin;
    if (norm != nullptr) core::rms_norm({tokens, dim, tokens, dim, norm, nullptr, count * heads, dim, steps.epsilon});
    if (steps.rotary == nullptr) return;
    const core::Rotation rotation = rotation_of(*steps.rotary, tokens, heads, dim);
    core::rotate_at(rotation, turns_of(*steps.rotary), position, count, ptrdiff_t(heads) * dim);
  }

  const attend_layer& steps;
  const core::Problem& extents;  // heads and widths
  static constexpr bool may_gate = true;
  bool is_gated() const { return steps.gate.data != nullptr; }
  LayerMatrix query{steps.query}, key{steps.key}, value{steps.value}, output{steps.output}, gate{steps.gate};
  ptrdiff_t context_width = ptrdiff_t(extents.query_heads) * extents.value_dim, width = query.weights.inputs;
  ptrdiff_t memory_width = key.weights.inputs, output_width = output.weights.outputs;
};
struct RunTimePlaces {
  static constexpr bool one_token = false;
  detail::LayerMemory memory;
};

// The keys and values of a layer: a cache, which the call's tokens are appended to or not, or arrays in work memory.
struct Kept {
  template <class LayerCall>
  bool fill(const LayerCall& call, int tokens) const {
    return !appends && cache != nullptr ? true : call.store(call.x, tokens);
  }
  float* keys_at(float* work, int first) const { return cache != nullptr ? work : arrays.keys_at(work, first); }
  float* values_at(float* work, int first) const { return cache != nullptr ? work : arrays.values_at(work, first); }
  void store(const float* keys, const float* values, int count) const {
    if (cache == nullptr) return;
    append(*cache, count, {keys, arrays.keys.token_stride, arrays.keys.head_stride},
           {values, arrays.values.token_stride, arrays.values.head_stride});
  }
  bool holds(int tokens) const { return cache == nullptr || cache->tokens == tokens; }
  // In a ring, tokens of the blocks before have overwritten others, and stay.
  void take_back(int tokens) const {
    if (cache->ring_panels == 0) set_tokens(*cache, tokens);
  }
  attend_cache* cache;
  bool appends;
  detail::KeptArrays arrays;  // with a cache, how new tokens lie
};
using LayerCall = detail::LayerCall<RunTimeLayer, RunTimePlaces, Kept, detail::LayerTeam>;

inline detail::KeptArrays arrays_at(float* keys, float* values, const core::Problem& extents) {
  return {{keys, ptrdiff_t(extents.kv_heads) * extents.head_dim, extents.head_dim},
          {values, ptrdiff_t(extents.kv_heads) * extents.value_dim, extents.value_dim}};
}

}  // namespace attend::c_surface
