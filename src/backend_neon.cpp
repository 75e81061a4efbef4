// The NEON backend: AArch64, and 32-bit Arm where the compiler is told of NEON with VFPv4. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_NEON

#include "attention/host.h"
#include "simd/neon.h"

template <>
ATTEND_HOT void attend::core::Tiles<attend::core::NeonBackend>::score(int rows, const float* query, const Panels& panels,
                                                                      int from, int to, float* scores) {
  score_tiles<Neon>(rows, query, panels, from, to, scores);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::NeonBackend>::softmax(int rows, float* scores, const int* visible,
                                                                        SoftmaxState* states, float* lane_sums,
                                                                        const Sums& sums) {
  softmax_tiles<Neon>(rows, scores, visible, states, lane_sums, sums);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::NeonBackend>::value(int rows, const float* weights, const Values& values,
                                                                      const int* visible, const Sums& sums) {
  value_tiles<Neon>(rows, weights, values, visible, sums);
}

template <>
ATTEND_HOT void attend::core::Entry<attend::core::NeonBackend>::run(const Problem& problem) {
  run_problem<Neon, attend::core::NeonBackend>(problem, true);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::NeonBackend>::sum_segment(const Problem& problem) {
  run_problem<Neon, attend::core::NeonBackend>(problem, false);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::NeonBackend>::combine(const Problem& problem, const float* partials) {
  add_segments<Neon>(problem, partials);
}

#endif
