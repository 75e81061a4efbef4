// What each backend exports, and what the dispatcher picks from.
#pragma once

#include "float_rules.h"  // first: it stops compilers that will not do, and governs the arithmetic in headers of intrinsics too

#include "../include/attend/core.h"

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

void run_scalar(const Problem& problem);
#if ATTEND_NEON
void run_neon(const Problem& problem);
#endif
#if ATTEND_HELIUM
void run_helium(const Problem& problem);
#endif
#if ATTEND_X86
void run_avx2(const Problem& problem);
void run_avx512(const Problem& problem);
#endif

}  // namespace core
}  // namespace attend
