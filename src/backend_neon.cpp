// The NEON backend: AArch64, and 32-bit Arm where the compiler is told of NEON with VFPv4. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_NEON

#include "attention/row_block.h"
#include "simd/neon.h"

ATTEND_HOT void attend::core::run_neon(const Problem& problem) { run_problem<Neon>(problem, true); }
ATTEND_HOT void attend::core::sum_neon(const Problem& problem) { run_problem<Neon>(problem, false); }
ATTEND_HOT void attend::core::add_neon(const Problem& problem, const float* kept) { add_segments<Neon>(problem, kept); }

#endif
