// Calls over caches with a window on the Helium backend. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "attention/embedded_block.h"
#include "simd/helium.h"

template <>
void attend::core::CacheEntry<attend::core::HeliumBackend>::run_float32(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Helium, CacheFeatures<Format::float32, float>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<attend::core::HeliumBackend>::run_float16(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Helium, CacheFeatures<Format::float16, Half>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<attend::core::HeliumBackend>::run_bfloat16(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Helium, CacheFeatures<Format::bfloat16, Bfloat>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<attend::core::HeliumBackend>::run_int8(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Helium, CacheFeatures<Format::int8, int8_t>>(problem, options).run<true>();
}

#endif
