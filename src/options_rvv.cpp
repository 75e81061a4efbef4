// The RVV backend's calls with options: RISC-V where the compiler, Clang 19 or later, is told of the vector extension. Compiles
// to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_RVV

#include "option_block.h"
#include "simd/rvv.h"

void attend::core::run_options_rvv(const Problem& problem, const Options& options) { run_with_options<Rvv>(problem, options); }

#endif
