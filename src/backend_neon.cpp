// The NEON backend: AArch64, and 32-bit Arm where the compiler is told of NEON with VFPv4. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_NEON

#include "attention/host.h"
#include "simd/neon.h"

template <>
ATTEND_HOT void attend::core::Entry<attend::core::NeonBackend>::run(const Problem& problem) {
  run_problem<Neon>(problem, true);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::NeonBackend>::sum_segment(const Problem& problem) {
  run_problem<Neon>(problem, false);
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::NeonBackend>::combine(const Problem& problem, const float* partials) {
  add_segments<Neon>(problem, partials);
}

#endif
