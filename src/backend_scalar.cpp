// The scalar backend: any target, and the reference for the others.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "attention/embedded.h"
#include "backends.h"

// Armv7-M and Armv8-M with a floating-point unit (and at -O0 too: its registers are enough).
#if defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA)
#include "simd/vfp.h"
template <>
ATTEND_HOT void attend::core::Entry<attend::core::ScalarBackend>::run(const Problem& problem) {
  EmbeddedPipeline<Vfp, NoFeatures>(problem).run<true>();
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::ScalarBackend>::sum_segment(const Problem& problem) {
  EmbeddedPipeline<Vfp, NoFeatures>(problem).run<false>();
}
#else
#include "simd/scalar.h"
template <>
ATTEND_HOT void attend::core::Entry<attend::core::ScalarBackend>::run(const Problem& problem) {
  EmbeddedPipeline<Scalar, NoFeatures>(problem).run<true>();
}
template <>
ATTEND_HOT void attend::core::Entry<attend::core::ScalarBackend>::sum_segment(const Problem& problem) {
  EmbeddedPipeline<Scalar, NoFeatures>(problem).run<false>();
}
#endif
