// What each backend exports, and what the dispatcher picks from.
#pragma once

#include "numerics/float_rules.h"  // first: it stops compilers that will not do, and governs the arithmetic in headers of intrinsics too

#include "../include/attend/core.h"
#include "../include/attend/core_options.h"

// Outside x86 the compiler's flags say what the processor has, and that decides.
#if defined(__ARM_NEON) && (defined(__aarch64__) || defined(__ARM_FEATURE_FMA))
#define ATTEND_NEON 1
#else
#define ATTEND_NEON 0
#endif
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define ATTEND_HELIUM 1
#else
#define ATTEND_HELIUM 0
#endif

namespace attend {
namespace core {

// Of every backend: run computes a problem; sum makes the sums of one segment, for a problem of at most segment_keys keys,
// which its output takes undivided, with the denominator and the maximum after each row; add writes the output of a problem
// from those of all its segments (segments.h).
void run_scalar(const Problem& problem);
void sum_scalar(const Problem& problem);
void add_scalar(const Problem& problem, const float* kept);
#if ATTEND_NEON
void run_neon(const Problem& problem);
void sum_neon(const Problem& problem);
void add_neon(const Problem& problem, const float* kept);
#endif
#if ATTEND_HELIUM
void run_helium(const Problem& problem);
void sum_helium(const Problem& problem);
#endif
#if ATTEND_X86
void run_avx2(const Problem& problem);
void sum_avx2(const Problem& problem);
void add_avx2(const Problem& problem, const float* kept);
void run_avx512(const Problem& problem);
void sum_avx512(const Problem& problem);
void add_avx512(const Problem& problem, const float* kept);
#endif

// The second with the active backend; core.h has the others.
void sum_segment(const Problem& problem);

// Calls with options, of each backend, and which of them is active: its place in the table of dispatch.cpp.
void run_options_scalar(const Problem& problem, const Options& options);
#if ATTEND_NEON
void run_options_neon(const Problem& problem, const Options& options);
#endif
#if ATTEND_HELIUM
void run_options_helium(const Problem& problem, const Options& options);
#endif
#if ATTEND_X86
void run_options_avx2(const Problem& problem, const Options& options);
void run_options_avx512(const Problem& problem, const Options& options);
#endif
int active_index();

// Calls over caches with a window, of the backends of small parts.
void run_float32_cache_scalar(const Problem& problem, const Options& options);
void run_float16_cache_scalar(const Problem& problem, const Options& options);
void run_bfloat16_cache_scalar(const Problem& problem, const Options& options);
void run_int8_cache_scalar(const Problem& problem, const Options& options);
#if ATTEND_HELIUM
void run_float32_cache_helium(const Problem& problem, const Options& options);
void run_float16_cache_helium(const Problem& problem, const Options& options);
void run_bfloat16_cache_helium(const Problem& problem, const Options& options);
void run_int8_cache_helium(const Problem& problem, const Options& options);
#endif

}  // namespace core
}  // namespace attend
