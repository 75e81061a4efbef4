// The Helium backend: Armv8.1-M with the vector extension for floats (Cortex-M55, M85). Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "simd/helium.h"

ATTEND_HOT void attend::core::run_helium(const Problem& problem) { EmbeddedPipeline<Helium, NoFeatures>(problem).run<true>(); }
ATTEND_HOT void attend::core::sum_helium(const Problem& problem) { EmbeddedPipeline<Helium, NoFeatures>(problem).run<false>(); }

#endif
