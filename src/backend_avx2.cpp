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

#include "attention/row_block.h"
#include "simd/avx2.h"

ATTEND_HOT void attend::core::run_avx2(const Problem& problem) { run_problem<Avx2>(problem, true); }
ATTEND_HOT void attend::core::sum_avx2(const Problem& problem) { run_problem<Avx2>(problem, false); }
ATTEND_HOT void attend::core::add_avx2(const Problem& problem, const float* kept) { add_segments<Avx2>(problem, kept); }

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif
