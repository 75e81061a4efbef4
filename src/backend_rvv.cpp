// The RVV backend: RISC-V where the compiler, Clang 19 or later, is told of the vector extension. Compiles to nothing
// elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_RVV

#include "row_block.h"
#include "simd/rvv.h"

ATTEND_CODE void attend::core::run_rvv(const Problem& problem) { run_problem<Rvv>(problem, true); }
ATTEND_CODE void attend::core::sum_rvv(const Problem& problem) { run_problem<Rvv>(problem, false); }
ATTEND_CODE void attend::core::add_rvv(const Problem& problem, const float* kept) { add_segments<Rvv>(problem, kept); }

#endif
