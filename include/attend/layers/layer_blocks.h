// The loop of a multi-head layer over blocks of its tokens, and its work memory: for typed layers and layers of the C surface.
#pragma once

#include "../core/options.h"
#include "core_layer.h"

namespace attend::detail {

// The layout of a layer's work memory, in floats, for a block of its tokens: first the work memory of projections or attention,
// then queries in the place of the block's keys, outputs of attention in the place of its values, and keys and values that no
// cache keeps. Extents from C may make it larger than can be addressed.
struct LayerMemory {
  int block;
  uint64_t projecting, own, first, second, keys, values, floats;

  // extents: query_heads, kv_heads, head_dim and value_dim
  template <class Extents>
  [[gnu::always_inline]] constexpr LayerMemory(const Extents& extents, int tokens, int kept_tokens, uint64_t attention)
      : block(smaller(tokens, config::layer_tokens)),
        projecting(tokens > 1 ? core::linear_work_floats : 0),
        own(aligned(attention > projecting ? attention : projecting)),
        first(own),
        second(first + aligned(uint64_t(block) * unsigned(extents.query_heads) * unsigned(extents.head_dim))),
        keys(second + aligned(uint64_t(block) * unsigned(extents.query_heads) * unsigned(extents.value_dim))),
        values(keys + aligned(uint64_t(kept_tokens) * unsigned(extents.kv_heads) * unsigned(extents.head_dim))),
        floats(values + uint64_t(kept_tokens) * unsigned(extents.kv_heads) * unsigned(extents.value_dim)) {}

  // Each thread has `own` floats for its projections and attention: the first at the beginning, the others behind the rest.
  constexpr uint64_t own_at(int part) const { return part == 0 ? 0 : aligned(floats) + own * unsigned(part - 1); }
  constexpr uint64_t floats_of(int threads) const { return threads == 1 ? floats : own_at(threads); }

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

// The threads that compute a call together: each its part of every projection and of attention, and some tokens' steps.
struct OneThread {
  static constexpr int part = 0, parts = 1;
  static void meet() {}
};
struct LayerTeam {
  int part = 0, parts = 1;
  void (*barrier)(void*) = nullptr;  // returns when all have called it
  void* context = nullptr;
  void meet() const {
    if (parts > 1) barrier(context);
  }
};
// How many of `tokens` tokens lie before the share of the thread that comes `next` after this one.
template <class Team>
int share_before(const Team& team, int tokens, int next) {
  const int part = team.part + next;
  return tokens / team.parts * part + smaller(part, tokens % team.parts);
}

// One call of a layer, whose arguments were checked: blocks of tokens go through the layer one after another. Threads meet
// where there is a semicolon.
//
//   for each block of tokens:  keys and values = projections; steps; the first thread stores; out of range: end
//   for each block of tokens:  queries = projection; steps; attention; gate; output = projection;
//
// `Layer` has matrices, widths and steps: a MultiHead, or what the C surface makes of an attend_layer. `Places` has the
// LayerMemory; it is a base because the LayerMemory of a shape is a constant, which takes no room. `Store` has the keys and
// values to attend to: keys_at and values_at say where a block's are projected to, store keeps them, holds tells whether that
// worked, and if not, take_back removes all tokens of the call.
template <class Layer, class Places, class Store, class Team = OneThread>
struct LayerCall : Places, LayerTokens, Team {
  LayerCall(const Places& places, const Layer& layer_, const Store& kept_, const LayerTokens& tokens, const Team& team = Team())
      : Places(places), LayerTokens(tokens), Team(team), layer(layer_), kept(kept_) {}

  // Keys and values of `count` tokens. False where they are out of range of what keeps them.
  bool store(const float* from, int count) const {
    const int block = Places::memory.block;
    bool fits = true;
    for (int first = 0; first < count && fits; first += block, from += ptrdiff_t(block) * layer.memory_width) {
      const int block_tokens = smaller(block, count - first);
      float *const keys = kept.keys_at(at(Places::memory.first), first), *const values =
                                                                             kept.values_at(at(Places::memory.second), first);
      project(layer.key, from, block_tokens, keys);
      project(layer.value, from, block_tokens, values);
      Team::meet();
      layer.prepare_keys(keys, position + first, share_before(*this, block_tokens, 0), share_before(*this, block_tokens, 1));
      Team::meet();  // so all have checked the call, and the cache may change
      if (Team::part == 0) kept.store(keys, values, block_tokens);
      Team::meet();
      fits = kept.holds(position + first + block_tokens);
    }
    if (!fits) take_back();
    return fits;
  }

  // Once all threads have seen that a block was refused.
  [[gnu::cold]] void take_back() const {
    Team::meet();
    if (Team::part == 0) kept.take_back(position);
    Team::meet();
  }

  // attend(first, count): attention of the block's queries.
  template <class Attend>
  void attend_blocks(int count, Attend attend) const {
    const int block = Places::memory.block;
    for (int first = 0; first < count; first += block) {
      const int block_tokens = smaller(block, count - first);
      project(layer.query, x + ptrdiff_t(first) * layer.width, block_tokens, at(Places::memory.first));
      Team::meet();
      layer.prepare_queries(at(Places::memory.first), position + first, share_before(*this, block_tokens, 0),
                            share_before(*this, block_tokens, 1));
      Team::meet();
      attend(first, block_tokens);
      Team::meet();
      if constexpr (Layer::may_gate) gate(first, block_tokens);
      project(layer.output, at(Places::memory.second), block_tokens, y + ptrdiff_t(first) * layer.output_width);
      Team::meet();
    }
  }

  // Multiplies the outputs of attention by the sigmoid of what the gate's weights make of x, which lies where queries were.
  void gate(int first, int count) const {
    if (!layer.is_gated()) return;
    float *const gates = at(Places::memory.first), *const outputs = at(Places::memory.second);
    project(layer.gate, x + ptrdiff_t(first) * layer.width, count, gates);
    Team::meet();
    const ptrdiff_t begin = ptrdiff_t(share_before(*this, count, 0)) * layer.context_width,
                    end = ptrdiff_t(share_before(*this, count, 1)) * layer.context_width;
    core::activate<Activation::sigmoid>(gates + begin, outputs + begin, int(end - begin), outputs + begin);
    Team::meet();
  }

  template <class OneMatrix>
  void project(const OneMatrix& matrix, const float* from, int count, float* to) const {
    matrix.template project<Places::one_token>(from, count, to, Places::memory.projecting > 0 ? own() : nullptr,
                                               static_cast<const Team&>(*this));
  }
  float* at(uint64_t floats) const { return work + size_t(floats); }
  // Work memory of this thread alone.
  float* own() const { return at(Places::memory.own_at(Team::part)); }

  const Layer& layer;
  Store kept;
};

// A thread's part of a problem.
template <class Runner, class... Problem>
void run_share(const OneThread&, const Problem&... problem) {
  Runner::run(problem...);
}
template <class Runner, class... Problem>
void run_share(const LayerTeam& team, const Problem&... problem) {
  team.parts == 1 ? Runner::run(problem...) : Runner::run_part(problem..., team.part, team.parts);
}

// Runner::run computes a problem, which may have options. Afterwards they describe the last block. Returns false, and writes
// nothing of y, where new keys or values are out of range.
template <class Runner, class... Types, class... CoreOptions>
bool run_blocks(core::Problem& problem, const LayerCall<Types...>& call, CoreOptions&... options) {
  const int queries = problem.queries, offset = problem.offset;
  problem.scratch = call.own();
  if (!call.kept.fill(call, queries)) return false;
  call.attend_blocks(queries, [&](int first, int count) {
    problem.queries = count;
    problem.offset = core::offset_after(offset, first);
    run_share<Runner>(call, problem, options...);
    (core::move_queries(options, count, 0), ...);
  });
  return true;
}

// Keys and values of the call's tokens in work memory, where no cache keeps them.
struct KeptArrays {
  static constexpr bool causal = false;  // where the options do not set it
  template <class Call>
  bool fill(const Call& call, int tokens) const {
    return call.store(call.x, tokens);
  }
  float* keys_at(float* /*work*/, int first) const { return keys.data + first * keys.token_stride; }
  float* values_at(float* /*work*/, int first) const { return values.data + first * values.token_stride; }
  static void store(const float* /*keys*/, const float* /*values*/, int /*count*/) {}  // they are where they belong
  static constexpr bool holds(int /*tokens*/) { return true; }
  static void take_back(int /*tokens*/) {}
  core::Tensor<float> keys, values;
};
static_assert(KeptArrays::holds(0), "arrays keep every token: take_back() is never called");

}  // namespace attend::detail
