// The AVX-512 backend: x86 with AVX-512 F, VL, DQ and BW. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_X86

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push  // GCC 12 takes its own intrinsics' "undefined" operands for mistakes
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <stddef.h>
#include <stdint.h>

#include "simd/x86_intrinsics.h"  // out here: its functions name their instruction sets themselves

#define ATTEND_FMA  // from here on; compilers may not say so in a macro of theirs

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#endif

#include "attention/host.h"
#include "simd/avx512.h"

template <>
ATTEND_HOT void attend::core::Tiles<attend::core::Avx512Backend>::score(int rows, const float* query, const Panels& panels,
                                                                        int from, int to, float* scores) {
  score_tiles<Avx512>(rows, query, panels, from, to, scores);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::Avx512Backend>::softmax(int rows, float* scores, const int* visible,
                                                                          SoftmaxState* states, float* lane_sums,
                                                                          const Sums& sums) {
  softmax_tiles<Avx512>(rows, scores, visible, states, lane_sums, sums);
}
template <>
ATTEND_HOT void attend::core::Tiles<attend::core::Avx512Backend>::value(int rows, const float* weights, const Values& values,
                                                                        const int* visible, const Sums& sums) {
  value_tiles<Avx512>(rows, weights, values, visible, sums);
}

template <>
ATTEND_HOT void attend::core::Entry<attend::core::Avx512Backend>::run(const Problem& problem) {
  run_problem<Avx512, attend::core::Avx512Backend>(problem, true);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::Avx512Backend>::sum_segment(const Problem& problem) {
  run_problem<Avx512, attend::core::Avx512Backend>(problem, false);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::Avx512Backend>::combine(const Problem& problem, const float* partials) {
  add_segments<Avx512>(problem, partials);
}

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif
