// The AVX2 backend: x86 with AVX2, FMA and F16C. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_X86

#include <stddef.h>
#include <stdint.h>

#include "simd/x86_intrinsics.h"  // out here: its functions name their instruction sets themselves

#define ATTEND_FMA  // from here on; compilers may not say so in a macro of theirs

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

#include "attention/host.h"
#include "simd/avx2.h"

template <>
ATTEND_HOT void attend::core::Tiles<attend::core::Avx2Backend>::score(int rows, const float* query, const Panels& panels,
                                                                      int from, int to, float* scores) {
  score_tiles<Avx2>(rows, query, panels, from, to, scores);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::Avx2Backend>::softmax(int rows, float* scores, const int* visible,
                                                                        SoftmaxState* states, float* lane_sums,
                                                                        const Sums& sums) {
  softmax_tiles<Avx2>(rows, scores, visible, states, lane_sums, sums);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::Avx2Backend>::value(int rows, const float* weights, const Values& values,
                                                                      const int* visible, const Sums& sums) {
  value_tiles<Avx2>(rows, weights, values, visible, sums);
}

template <>
ATTEND_HOT void attend::core::Entry<attend::core::Avx2Backend>::run(const Problem& problem) {
  run_problem<Avx2, attend::core::Avx2Backend>(problem, true);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::Avx2Backend>::sum_segment(const Problem& problem) {
  run_problem<Avx2, attend::core::Avx2Backend>(problem, false);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::Avx2Backend>::combine(const Problem& problem, const float* partials) {
  add_segments<Avx2>(problem, partials);
}

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif
