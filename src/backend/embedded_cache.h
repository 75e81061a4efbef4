// The entry points of calls over caches with a window, of a small part's backend. Before this a source names the `Backend` and
// its `Isa`.
#pragma once

template <>
void attend::core::CacheEntry<Backend>::run_float32(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::float32, float>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<Backend>::run_float16(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::float16, Half>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<Backend>::run_bfloat16(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::bfloat16, Bfloat>>(problem, options).run<true>();
}
template <>
void attend::core::CacheEntry<Backend>::run_int8(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, CacheFeatures<Format::int8, int8_t>>(problem, options).run<true>();
}
