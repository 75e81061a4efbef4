// Calls with options on the scalar backend: any target, and the reference for the others.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "attention/embedded.h"
#include "attention/embedded_block.h"
#include "backends.h"

// As in backend_scalar.cpp.
#if defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA)
#include "simd/vfp.h"
template <>
void attend::core::Entry<attend::core::ScalarBackend>::run_options(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Vfp, AllFeatures>(problem, options).run<true>();
}
#else
#include "simd/scalar.h"
template <>
void attend::core::Entry<attend::core::ScalarBackend>::run_options(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Scalar, AllFeatures>(problem, options).run<true>();
}
#endif
