// The scalar backend: any target, and the reference for the others.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "attention/embedded.h"
#include "backends.h"
#include "simd/embedded_isa.h"

template <>
ATTEND_HOT void attend::core::Entry<attend::core::ScalarBackend>::run(const Problem& problem) {
  EmbeddedPipeline<EmbeddedIsa, NoFeatures>(problem).run<true>();
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::ScalarBackend>::sum_segment(const Problem& problem) {
  EmbeddedPipeline<EmbeddedIsa, NoFeatures>(problem).run<false>();
}
