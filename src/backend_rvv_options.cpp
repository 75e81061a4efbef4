// The RVV backend's calls with options: RISC-V where the compiler, Clang 19 or later, is told of the vector extension. Compiles
// to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_RVV

#include "attention/host.h"
#include "simd/rvv.h"

template <>
void attend::core::Entry<attend::core::RvvBackend>::run_options(const Problem& problem, const Options& options) {
  run_with_options<Rvv, attend::core::RvvBackend>(problem, options);
}

#endif
