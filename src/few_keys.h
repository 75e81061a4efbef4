// One token over a few keys of a cache: the steps of row_block.h without its bookkeeping, which would take longer than the
// work.
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

// Whether that is what a problem is. Query heads that share keys are worth a tile.
inline bool has_few_keys(const core::Problem& problem) {
  return problem.queries == 1 && problem.query_heads == problem.kv_heads && problem.key_panels && problem.keys <= chain_keys;
}

// Scores in, weights out, for one row; returns the maximum to which they are relative.
template <class Isa>
float weigh_few(float* scores, int keys, float* lane_sums) {
  using Vec = typename Isa::Vec;
  constexpr int vecs = panel_keys / Isa::lanes;
  const int padded = whole_panels(keys);
  fill_row<Isa>(-__builtin_inff(), padded - keys, scores + keys);
  Vec highest = Isa::broadcast(lowest_max);  // never NaN
  for (int k = 0; k < padded; k += Isa::lanes) highest = Isa::max(highest, Isa::load(scores + k));
  RowScale scale = nothing_seen();
  if (const float highest_score = Isa::highest_lane(highest); highest_score > lowest_max) {
    raise_max<Isa>(highest_score, scale, lane_sums, {nullptr, 0, false});
    if (is_far(scale.max)) bring_near<Isa>(scores, padded, scale.max);
  }
  weigh_side_by_side<Isa, 1, vecs>(scores, 0, padded, &scale, false, lane_sums);
  return scale.max;
}

template <class Isa>
void run_few_keys(const core::Problem& problem, bool divides) {
  const int keys = visible_keys(problem, 0);
  const typename Isa::Vec query_scale = Isa::broadcast(base2_scale(problem.scale));
  float* const scores = problem.scratch;
  float* const lane_sums = scores + chain_keys;
  float* const query = lane_sums + panel_keys;
  for (int head = 0; head < problem.query_heads; ++head) {
    float* const output = element(problem.output, 0, head);
    float denominator = 0.0f, max = lowest_max;
    if (keys > 0) {
      scale_row<Isa>(element(problem.query, 0, head), problem.head_dim, query_scale, query);
      score_rows<Isa, 1>(query, element(problem.key, 0, head), problem.head_dim, keys, scores);
      max = weigh_few<Isa>(scores, keys, lane_sums);
      denominator = Isa::sum_lanes(lane_sums);
      const Values values = {element(problem.value, 0, head), problem.value.token_stride};
      value_columns<Isa, 1, false>(scores, values, &keys, {output, problem.value_dim, false});
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
