// Calls with options on the Helium backend. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "simd/helium.h"

template <>
void attend::core::Entry<attend::core::HeliumBackend>::run_options(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Helium, AllFeatures>(problem, options).run<true>();
}

#endif
