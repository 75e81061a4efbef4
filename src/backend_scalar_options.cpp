// Calls with options on the scalar backend: any target, and the reference for the others.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "attention/embedded.h"
#include "backends.h"
#include "simd/embedded_isa.h"

template <>
void attend::core::Entry<attend::core::ScalarBackend>::run_options(const Problem& problem, const Options& options) {
  EmbeddedPipeline<EmbeddedIsa, AllFeatures>(problem, options).run<true>();
}
