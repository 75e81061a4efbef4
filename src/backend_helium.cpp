// The Helium backend: Armv8.1-M with the vector extension for floats (Cortex-M55, M85). Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "simd/helium.h"

template <>
ATTEND_HOT void attend::core::Entry<attend::core::HeliumBackend>::run(const Problem& problem) {
  EmbeddedPipeline<Helium, NoFeatures>(problem).run<true>();
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::HeliumBackend>::sum_segment(const Problem& problem) {
  EmbeddedPipeline<Helium, NoFeatures>(problem).run<false>();
}

#endif
