// The NEON backend's calls with options: AArch64, and 32-bit Arm where the compiler is told of NEON with VFPv4. Compiles to
// nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_NEON

#include "attention/host.h"
#include "simd/neon.h"

template <>
void attend::core::Entry<attend::core::NeonBackend>::run_options(const Problem& problem, const Options& options) {
  run_with_options<Neon, attend::core::NeonBackend>(problem, options);
}

#endif
