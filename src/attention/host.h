// The algorithm on hosts: blocks of query rows, which go over their keys with features (feature_walk.h) or without
// (plain_walk.h), and a token over few keys (short_decode.h).
#ifndef ATTEND_ATTENTION_HOST_H
#define ATTEND_ATTENTION_HOST_H

#include "feature_walk.h"
#include "plain_walk.h"
#include "short_decode.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Isa>
ATTEND_NOINLINE void run_blocks(const core::Problem& problem, bool divides) {
  const core::HostWorkMemory memory({problem.row_block, problem.key_block, problem.head_dim, problem.value_dim,
                                     !problem.key_panels, problem.keys > segment_keys},
                                    false);
  PlainWalk<Isa> walk(problem, memory);
  for_each_block(problem, group_of(problem), problem.row_block, [&](const Rows& rows) { walk.run(rows, divides); });
}

// Two functions, so that a call takes the stack of only one.
template <class Isa>
void run_problem(const core::Problem& problem, bool divides) {
  if (is_short_decode(problem)) return run_short_decode<Isa>(problem, divides);
  run_blocks<Isa>(problem, divides);
}

template <class Isa>
void run_with_options(const core::Problem& problem, const core::Options& options) {
  const core::HostWorkMemory memory({problem.row_block, problem.key_block, problem.head_dim, problem.value_dim, true, true},
                                    true);
  FeatureWalk<Isa> walk(problem, options, memory);
  for_each_block(problem, group_of(problem), problem.row_block, [&](const Rows& rows) { walk.run(rows); });
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
