// The loop of a multi-head layer over blocks of its tokens, and its work memory: for typed layers and those of the C surface.
#pragma once

#include "../core/linear.h"
#include "../core/options.h"

namespace attend {
namespace detail {

// The layout of a layer's work memory, in floats, for a block of its tokens: first that of projections or attention, then
// queries where their keys were before, outputs where values were, and keys and values that no cache keeps. Extents of C may
// make more of it than can be addressed.
struct LayerMemory {
  int block;
  uint64_t projecting, first, second, keys, values, floats;

  // extents: query_heads, kv_heads, head_dim and value_dim
  template <class Extents>
  [[gnu::always_inline]] constexpr LayerMemory(const Extents& extents, int tokens, int kept_tokens, uint64_t attention)
      : block(smaller(tokens, config::layer_tokens)),
        projecting(tokens > 1 ? core::linear_work_floats : 0),
        first(aligned(attention > projecting ? attention : projecting)),
        second(first + aligned(uint64_t(block) * unsigned(extents.query_heads) * unsigned(extents.head_dim))),
        keys(second + aligned(uint64_t(block) * unsigned(extents.query_heads) * unsigned(extents.value_dim))),
        values(keys + aligned(uint64_t(kept_tokens) * unsigned(extents.kv_heads) * unsigned(extents.head_dim))),
        floats(values + uint64_t(kept_tokens) * unsigned(extents.kv_heads) * unsigned(extents.value_dim)) {}

  static constexpr size_t line = config::alignment / sizeof(float);
  static constexpr uint64_t aligned(uint64_t count) { return (count + line - 1) / line * line; }
};

// The tokens of a call of a layer, and its work memory.
struct LayerTokens {
  const float* x;
  float* y;
  float* work;
  int position;  // of the first token, for the steps
};

// One call of a layer, whose arguments were checked: blocks of tokens go through the layer one after another.
//
//   for each block of tokens:  keys and values = projections; steps; store
//   for each block of tokens:  queries = projection; steps; attention; output = projection
//
// `Layer` has matrices, widths and steps: a MultiHead, or what the C surface makes of an attend_layer. `Places` has the
// LayerMemory, and is a base because that of a shape is a constant, which takes no room. `Store` is what is attended to: where
// a block's keys and values are projected to, and what becomes of them then.
template <class Layer, class Places, class Store>
struct LayerCall : Places, LayerTokens {
  LayerCall(const Places& places, const Layer& layer_, const Store& kept_, const LayerTokens& tokens)
      : Places(places), LayerTokens(tokens), layer(layer_), kept(kept_) {}

  // Keys and values of `count` tokens.
  void store(const float* from, int count) const {
    const int block = Places::memory.block;
    for (int first = 0; first < count; first += block, from += ptrdiff_t(block) * layer.memory_width) {
      const int block_tokens = smaller(block, count - first);
      float *const keys = kept.keys_at(at(Places::memory.first), first), *const values =
                                                                             kept.values_at(at(Places::memory.second), first);
      project(layer.key, from, block_tokens, keys);
      project(layer.value, from, block_tokens, values);
      layer.prepare_keys(keys, position + first, block_tokens);
      kept.store(keys, values, block_tokens);
    }
  }

  // attend(first, count): attention of the block's queries.
  template <class Attend>
  void attend_blocks(int count, Attend attend) const {
    const int block = Places::memory.block;
    for (int first = 0; first < count; first += block) {
      const int block_tokens = smaller(block, count - first);
      project(layer.query, x + ptrdiff_t(first) * layer.width, block_tokens, at(Places::memory.first));
      layer.prepare_queries(at(Places::memory.first), position + first, block_tokens);
      attend(first, block_tokens);
      project(layer.output, at(Places::memory.second), block_tokens, y + ptrdiff_t(first) * layer.output_width);
    }
  }

  template <class OneMatrix>
  void project(const OneMatrix& matrix, const float* from, int count, float* to) const {
    matrix.template project<Places::one_token>(from, count, to, Places::memory.projecting > 0 ? work : nullptr);
  }
  float* at(uint64_t floats) const { return work + size_t(floats); }

  const Layer& layer;
  Store kept;
};

template <class... Types>
void run_blocks(const core::Problem& problem, const LayerCall<Types...>& call) {
  call.kept.fill(call, problem.queries);
  core::Problem of_block = problem;
  call.attend_blocks(problem.queries, [&](int first, int count) {
    of_block.queries = count;
    of_block.offset = core::offset_after(problem.offset, first);
    core::run(of_block);
  });
}

// Runner::run computes a problem with options. Both become those of the last block.
template <class Runner, class... Types>
void run_option_blocks(core::Problem& problem, core::Options& options, const LayerCall<Types...>& call) {
  const int queries = problem.queries, offset = problem.offset;
  call.kept.fill(call, queries);
  call.attend_blocks(queries, [&](int first, int count) {
    problem.queries = count;
    problem.offset = core::offset_after(offset, first);
    Runner::run(problem, options);
    core::move_queries(options, count, 0);
  });
}

// Keys and values of the call's tokens in work memory, where no cache keeps them.
struct KeptArrays {
  static constexpr bool causal = false;  // where the options do not set it
  template <class Call>
  void fill(const Call& call, int tokens) const {
    call.store(call.x, tokens);
  }
  float* keys_at(float* /*work*/, int first) const { return keys.data + first * keys.token_stride; }
  float* values_at(float* /*work*/, int first) const { return values.data + first * values.token_stride; }
  static void store(const float* /*keys*/, const float* /*values*/, int /*count*/) {}  // they are where they belong
  core::Tensor<float> keys, values;
};

}  // namespace detail
}  // namespace attend
