// One token over very few keys: heads are lanes of one softmax, and nothing else is set up. There is so little work that what
// counts are steps that wait for the one before.
#ifndef ATTEND_ATTENTION_FEW_KEYS_H
#define ATTEND_ATTENTION_FEW_KEYS_H

#include "../../include/attend/core/work_memory.h"
#include "../kernel/online_softmax.h"
#include "../kernel/score_few.h"
#include "../kernel/score_quads.h"

namespace attend::ATTEND_ISA {
namespace {

// The most keys of an array that are read where they lie: packing them would take longer than to load them one by one.
constexpr int few_rows = 2;

// What the work memory of a call without features depends on, for so many rows at a time.
ATTEND_ALWAYS_INLINE core::WorkExtents plain_extents(const core::Problem& problem, int rows) {
  return {rows, problem.key_block, problem.head_dim, problem.value_dim, !problem.key_panels};
}

// Stores a head's score: in its lane, or in all of them where it is alone, because a vector that is loaded soon after a part of
// it was stored waits for the cache.
template <class Isa>
ATTEND_ALWAYS_INLINE void store_score(float score, bool alone, float* to) {
  if (alone) {
    Isa::store(to, Isa::broadcast(score));
  } else {
    *to = score;
  }
}

// The scores of a query and the keys that are lanes of a panel, `width` floats for each dimension.
template <class Isa, int width>
ATTEND_ALWAYS_INLINE void score_few_lanes(const float* query, float scale, const float* panel, int dims,
                                          [[maybe_unused]] float* scaled, typename Isa::Vec (&score)[1]) {
  const typename Isa::Vec scales = Isa::broadcast(scale);
  if constexpr (Isa::lanes > quad_rows) {
    if (dims >= quad_dims) {  // of fewer, the first multiply-adds would wait for the scaling
      multiply_row<Isa>(query, dims, scales, scaled);
      const auto factor = [=](int, int d) ATTEND_INLINE_LAMBDA { return Isa::broadcast(scaled[d]); };
      return add_chains<Isa, 8, width>(factor, panel, 0, dims, score);
    }
  }
  const auto factor = [=](int, int d) ATTEND_INLINE_LAMBDA { return Isa::mul(Isa::broadcast(query[d]), scales); };
  add_chains<Isa, 4, width>(factor, panel, 0, dims, score);
}

// scores[key][i] of head + i, for keys that are read where they lie.
template <class Isa>
ATTEND_NOINLINE void score_few_rows(const core::Problem& problem, int head, int heads, int keys, float* scores) {
  const float scale = base2_scale(problem.scale);
  for (int i = 0; i < heads; ++i) {
    const float *const query = element(problem.query, 0, head + i), *const key = element(problem.key, 0, head + i);
    const auto factor = [=](int, int c) ATTEND_INLINE_LAMBDA { return Scalar::mul(query[c], scale); };
    for (int k = 0; k < keys; ++k) {
      float score[1] = {0.0f};
      add_chains<Scalar, 4, 1>(factor, key + k * problem.key.token_stride, 0, problem.head_dim, score);
      store_score<Isa>(score[0], heads == 1, scores + k * Isa::lanes + i);
    }
  }
}

// scores[key][i] of the head that is lane i, for keys that are lanes of a panel.
template <class Isa>
ATTEND_NOINLINE void score_few_keys(const core::Problem& problem, int head, int keys, bool alone, float* scaled,
                                    float* scores) {
  const float *const query = element(problem.query, 0, head), *const key = element(problem.key, 0, head);
  const float scale = base2_scale(problem.scale);
  const int dims = problem.head_dim;
  typename Isa::Vec score[1] = {Isa::zero()};
  if (problem.key_panels) {
    score_few_lanes<Isa, panel_keys>(query, scale, key, dims, scaled, score);
  } else {
    pack_few<Isa>(key, problem.key.token_stride, keys, dims, problem.scratch);
    score_few_lanes<Isa, few_panel_keys>(query, scale, problem.scratch, dims, scaled, score);
  }
  float of_keys[Isa::lanes];
  Isa::store(of_keys, score[0]);
  for (int k = 0; k < keys; ++k) store_score<Isa>(of_keys[k], alone, scores + k * Isa::lanes);
}

// Whether score_pairs is faster than one head after another, for rows of whole chains. Where heads lie side by side, all of
// them are one row; by itself, a head of less than half of what goes side by side is copied and filled up with zeros.
template <class Isa>
ATTEND_ALWAYS_INLINE bool pairs_are_faster(const core::Problem& problem, int heads) {
  const int dims = problem.head_dim;
  if (heads == 1) return dims >= 2 * quad_dims;
  if (problem.query.head_stride != dims || problem.key.head_stride != dims) {
    return dims >= at_least(quads_at_once<Isa> / 2, 1) * quad_dims;
  }
  return heads * dims >= (heads > 3 ? 1 : 2) * quad_dims;
}

// scores[key][i] of head + i, whichever way is the fastest.
template <class Isa>
ATTEND_ALWAYS_INLINE void score_heads(const core::Problem& problem, int head, int heads, int keys, float* scaled,
                                      float* scores) {
  if (problem.key_panels || keys > few_rows) {
    for (int i = 0; i < heads; ++i) score_few_keys<Isa>(problem, head + i, keys, heads == 1, scaled, scores + i);
    return;
  }
  if constexpr (Isa::transposes_rows) {
    const int dims = problem.head_dim;
    if (dims % chain_dims == 0 && pairs_are_faster<Isa>(problem, heads)) {
      const ptrdiff_t query_stride = heads == 1 ? dims : problem.query.head_stride;
      const ptrdiff_t key_stride = heads == 1 ? dims : problem.key.head_stride;
      for (int k = 0; k < keys; ++k) {
        score_pairs<Isa>(element(problem.query, 0, head), query_stride, element(problem.key, k, head), key_stride, heads, dims,
                         base2_scale(problem.scale), problem.scratch, scores + k * Isa::lanes);
        if (heads == 1) store_score<Isa>(scores[k * Isa::lanes], true, scores + k * Isa::lanes);
      }
      return;
    }
  }
  score_few_rows<Isa>(problem, head, heads, keys, scores);
}

// Replaces scores by weights and gives the denominators of all lanes: those of kernel/online_softmax.h. Not where a score is so
// far from 0 that it must be brought near it, or no number.
template <class Isa, int keys>
ATTEND_ALWAYS_INLINE bool weigh_few_keys(float* scores, float* denominators) {
  using Vec = typename Isa::Vec;
  Vec numbers[keys], highest = Isa::broadcast(lowest_max);
  ATTEND_UNROLL
  for (int k = 0; k < keys; ++k) highest = Isa::higher(highest, numbers[k] = Isa::load(scores + k * Isa::lanes));
  const Vec limit = Isa::broadcast(0.5f * near_max), shift = Isa::broadcast(whole_shift);
  if (Isa::any_above(highest, limit) || Isa::any_above(Isa::sub(Isa::zero(), highest), limit)) return false;
  const Vec max = Isa::sub(Isa::add(highest, shift), shift);
  Vec power[keys];
  ATTEND_UNROLL
  for (int k = 0; k < keys; ++k) {
    const Vec whole = Isa::sub(Isa::add(numbers[k], shift), shift);
    numbers[k] = Isa::sub(numbers[k], whole);
    power[k] = Isa::sub(whole, max);
  }
  exp2_fraction<Isa, keys>(numbers);
  ATTEND_UNROLL
  for (int k = 0; k < keys; ++k) Isa::store(scores + k * Isa::lanes, numbers[k] = Isa::scale_by_power(numbers[k], power[k]));
  // The order in which a panel's lanes are added.
  ATTEND_UNROLL
  for (int k = 2; k < keys; ++k) numbers[k - 2] = Isa::add(numbers[k - 2], numbers[k]);
  Isa::store(denominators, keys == 1 ? numbers[0] : Isa::add(numbers[0], numbers[keys > 1]));
  return true;
}

// output = (the sum of weights[k][0] * value[k], k ascending) / denominator
template <class Isa, int keys>
ATTEND_ALWAYS_INLINE void value_few_keys(const core::Problem& problem, const float* value, const float* weights,
                                         float denominator, float* output) {
  using Vec = typename Isa::Vec;
  const Vec factor = Isa::broadcast(Scalar::reciprocal(denominator));
  Vec weight[keys];
  ATTEND_UNROLL
  for (int k = 0; k < keys; ++k) weight[k] = Isa::broadcast(weights[k * Isa::lanes]);
  const ptrdiff_t stride = problem.value.token_stride;
  for_each_vector<Isa>(problem.value_dim, [&](int c, int lanes) ATTEND_INLINE_LAMBDA {
    Vec sum = Isa::zero();
    ATTEND_UNROLL
    for (int k = 0; k < keys; ++k) sum = Isa::fma(weight[k], load_some<Isa>(value + k * stride + c, lanes), sum);
    store_some<Isa>(output + c, Isa::mul(sum, factor), lanes);
  });
}

// The same for a number of keys that the compiler knows, and as many heads at a time as there are lanes.
template <class Isa>
struct FewKeys {
  const core::Problem& problem;
  float* scaled;
  float* scores;
  int& head;

  template <int keys>
  ATTEND_ALWAYS_INLINE void operator()(Constant<keys>) const {
    static_assert(keys * Isa::lanes <= chain_keys, "the smallest key_block has room for the scores");
    for (int heads; head < problem.query_heads; head += heads) {
      heads = at_most(problem.query_heads - head, Isa::lanes);
      if (heads > 1 && heads < Isa::lanes) fill_row<Isa>(0.0f, keys * Isa::lanes, scores);
      score_heads<Isa>(problem, head, heads, keys, scaled, scores);
      float denominators[Isa::lanes];
      if (!weigh_few_keys<Isa, keys>(scores, denominators)) return;
      for (int i = 0; i < heads; ++i)
        value_few_keys<Isa, keys>(problem, element(problem.value, 0, head + i), scores + i, denominators[i],
                                  element(problem.output, 0, head + i));
    }
  }
};

// One token over up to few_panel_keys keys of each head. Returns how many heads it has done: all, or those before scores that
// it cannot weigh.
template <class Isa>
ATTEND_NOINLINE int run_few_keys(const core::Problem& problem, int keys) {
  const core::HostWorkMemory at(plain_extents(problem, 1), false);
  int head = 0;
  const FewKeys<Isa> run = {problem, problem.scratch + at.query, problem.scratch + at.scores, head};
  with_rows<AnyNumber, few_panel_keys>(keys, run);
  return head;
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
