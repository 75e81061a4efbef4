// The entry points of a host's backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../attention/host.h"

template <>
ATTEND_HOT void attend::core::Tiles<Backend>::score(int rows, const float* query, const Panels& panels, int from, int to,
                                                    float* scores) {
  score_tiles<Isa>(rows, query, panels, from, to, scores);
}
template <>
ATTEND_HOT void attend::core::Tiles<Backend>::softmax(int rows, float* scores, const int* visible, SoftmaxState* states,
                                                      float* lane_sums, const Sums& sums) {
  softmax_tiles<Isa>(rows, scores, visible, states, lane_sums, sums);
}
template <>
ATTEND_HOT void attend::core::Tiles<Backend>::value(int rows, const float* weights, const Values& values, const int* visible,
                                                    const Sums& sums) {
  value_tiles<Isa>(rows, weights, values, visible, sums);
}

template <>
ATTEND_HOT void attend::core::Entry<Backend>::run(const Problem& problem) {
  run_problem<Isa, Backend>(problem, true);
}
template <>
ATTEND_HOT void attend::core::Entry<Backend>::sum_segment(const Problem& problem) {
  run_problem<Isa, Backend>(problem, false);
}
template <>
ATTEND_HOT void attend::core::Entry<Backend>::combine(const Problem& problem, const float* partials) {
  add_segments<Isa>(problem, partials);
}
