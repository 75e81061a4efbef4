// Calls over caches with a window on the scalar backend of small parts. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_EMBEDDED && !ATTEND_HELIUM

#include "attention/embedded.h"
#include "attention/embedded_block.h"

// As in backend_scalar.cpp.
#if defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA)
#include "simd/vfp.h"
using Isa = attend::Vfp;
#else
#include "simd/scalar.h"
using Isa = attend::Scalar;
#endif

template <>
void attend::core::CacheEntry<attend::core::ScalarBackend>::run_float32(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::float32, float>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<attend::core::ScalarBackend>::run_float16(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::float16, Half>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<attend::core::ScalarBackend>::run_bfloat16(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::bfloat16, Bfloat>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<attend::core::ScalarBackend>::run_int8(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::int8, int8_t>>(problem, options).run<true>();
}

#endif
