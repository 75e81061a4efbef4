// Calls with options on the Helium backend. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/options_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "attention/embedded_block.h"
#include "simd/helium.h"

void attend::core::run_options_helium(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Helium, AllFeatures>(problem, options).run<true>();
}

#endif
