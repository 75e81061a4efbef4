// One token over the keys of a cache that are few enough for one segment: the steps of row_block.h without its bookkeeping,
// which would take longer than the work where there are very few.
#pragma once

#include "../include/attend/core.h"
#include "pack.h"
#include "score_tile.h"
#include "seen.h"
#include "segments.h"
#include "value_tile.h"
#include "weigh_rows.h"

namespace attend {
namespace {

// Whether that is what a problem is, and its work memory is for that. Query heads that share keys are worth a tile.
inline bool has_few_keys(const core::Problem& problem) {
  return problem.queries == 1 && problem.query_heads == problem.kv_heads && problem.key_panels && problem.row_block == 1 &&
         problem.keys <= at_most(problem.key_block, segment_keys);
}

// Gives hidden keys, from `visible` to whole panels, a score that weighs nothing. A vector that has both kinds is stored whole:
// after two stores to its parts, its next load would wait for both to reach the cache.
template <class Isa>
ATTEND_INSIDE void hide_keys(float* scores, int visible, int padded) {
  const typename Isa::Vec hidden_score = Isa::broadcast(-__builtin_inff());
  int k = visible / Isa::lanes * Isa::lanes;
  if (k < visible) {
    Isa::store(scores + k, Isa::first_of(Isa::load(scores + k), hidden_score, visible - k));
    k += Isa::lanes;
  }
  for (; k < padded; k += Isa::lanes) Isa::store(scores + k, hidden_score);
}

// Scores in, weights out, for one row; returns the maximum to which they are relative.
template <class Isa>
float weigh_few(float* scores, int keys, float* lane_sums) {
  using Vec = typename Isa::Vec;
  constexpr int vecs = panel_keys / Isa::lanes;
  const int padded = whole_panels(keys);
  hide_keys<Isa>(scores, keys, padded);
  const bool many = padded >= 4 * Isa::lanes;  // enough for four vectors side by side
  Vec highest = Isa::broadcast(lowest_max);    // never NaN
  if (many) {
    highest = highest_of_row<Isa>(scores, padded, highest);
  } else {
    for (int k = 0; k < padded; k += Isa::lanes) highest = Isa::max(highest, Isa::load(scores + k));
  }
  RowScale scale = nothing_seen();
  if (const float highest_score = Isa::highest_lane(highest); highest_score > lowest_max) {
    raise_max<Isa>(highest_score, scale, lane_sums, {nullptr, 0, false});
    if (is_far(scale.max)) bring_near<Isa>(scores, padded, scale.max);
  }
  const int done = many ? weigh_side_by_side<Isa, 1, 4>(scores, 0, padded, &scale, false, lane_sums) : 0;
  weigh_side_by_side<Isa, 1, vecs>(scores, done, padded, &scale, false, lane_sums);
  return scale.max;
}

template <class Isa>
void run_few_keys(const core::Problem& problem, bool divides) {
  constexpr int panel_vecs = panel_keys / Isa::lanes;
  const int keys = visible_keys(problem, 0);
  const typename Isa::Vec query_scale = Isa::broadcast(base2_scale(problem.scale));
  float* const scores = problem.scratch;
  float* const lane_sums = scores + problem.key_block;
  float* const query = lane_sums + panel_keys;
  for (int head = 0; head < problem.query_heads; ++head) {
    float* const output = element(problem.output, 0, head);
    float denominator = 0.0f, max = lowest_max;
    if (keys > 0) {
      scale_row<Isa>(element(problem.query, 0, head), problem.head_dim, query_scale, query);
      const float* const panels = element(problem.key, 0, head);
      if (keys <= panel_keys) {  // the cascades of narrower tiles, here and below, take as long as so little work
        score_tile<Isa, 1, panel_vecs>(query, panels, 0, problem.head_dim, scores);
      } else {
        score_rows<Isa, 1>(query, panels, problem.head_dim, keys, scores);
      }
      max = weigh_few<Isa>(scores, keys, lane_sums);
      denominator = Isa::sum_lanes(lane_sums);
      for (int chain = 0; chain < keys; chain += chain_keys) {
        const ptrdiff_t stride = problem.value.token_stride;
        const Values values = {element(problem.value, 0, head) + chain * stride, stride};
        const Sums sums = {output, problem.value_dim, chain > 0};
        const int in_chain = at_most(keys - chain, chain_keys);
        if (problem.value_dim < 2 * panel_keys) {
          value_columns<Isa, 1, false, panel_vecs>(scores + chain, values, &in_chain, sums);
        } else {
          value_columns<Isa, 1, false>(scores + chain, values, &in_chain, sums);
        }
      }
    }
    if (divides) {
      divide_row<Isa>(output, problem.value_dim, denominator, output);
    } else {
      keep_row<Isa>(output, problem.value_dim, denominator, max, output);
    }
  }
}

}  // namespace
}  // namespace attend
