// The RVV backend: RISC-V where the compiler, Clang 19 or later, is told of the vector extension. Compiles to nothing
// elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_RVV

#include "attention/host.h"
#include "simd/rvv.h"

template <>
ATTEND_HOT void attend::core::Tiles<attend::core::RvvBackend>::score(int rows, const float* query, const Panels& panels,
                                                                     int from, int to, float* scores) {
  score_tiles<Rvv>(rows, query, panels, from, to, scores);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::RvvBackend>::softmax(int rows, float* scores, const int* visible,
                                                                       SoftmaxState* states, float* lane_sums,
                                                                       const Sums& sums) {
  softmax_tiles<Rvv>(rows, scores, visible, states, lane_sums, sums);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::RvvBackend>::value(int rows, const float* weights, const Values& values,
                                                                     const int* visible, const Sums& sums) {
  value_tiles<Rvv>(rows, weights, values, visible, sums);
}

template <>
ATTEND_HOT void attend::core::Entry<attend::core::RvvBackend>::run(const Problem& problem) {
  run_problem<Rvv, attend::core::RvvBackend>(problem, true);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::RvvBackend>::sum_segment(const Problem& problem) {
  run_problem<Rvv, attend::core::RvvBackend>(problem, false);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::RvvBackend>::combine(const Problem& problem, const float* partials) {
  add_segments<Rvv>(problem, partials);
}

#endif
