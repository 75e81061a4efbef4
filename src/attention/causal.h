// What a token sees of the keys, and how the sums of segments lie in memory: what cutting and adding up must agree on.
#pragma once

#include "../../include/attend/core.h"

namespace attend {
namespace {

// How many keys a token sees: they are 0 … visible_keys - 1.
inline int visible_keys(const core::Problem& problem, int token) {
  if (!problem.causal) return problem.keys;
  // The same keys are seen with an offset beyond these, and the sum cannot overflow.
  const int seen = (problem.offset < problem.keys ? problem.offset : problem.keys) + token + 1;
  if (seen > problem.keys) return problem.keys;
  return seen > 0 ? seen : 0;
}

// Segments with so many keys; one with none. As core::segment_count, which at -O0 would be a function that objects share.
constexpr int segments_with(int keys) { return keys > 0 ? (keys - 1) / segment_keys + 1 : 1; }

// Segments of which any token sees something; the first, if none does.
inline int seen_segments(const core::Problem& problem) { return segments_with(visible_keys(problem, problem.queries - 1)); }

// The sums of one row and segment, in the order in which they lie: value_dim of them, denominator, maximum.
constexpr int partial_row_floats(int value_dim) { return value_dim + 2; }

}  // namespace
}  // namespace attend
