// The entry point of calls with options of an embedded processor's backend. Before this a source names the `Backend` and its
// `Isa`.
#pragma once

template <>
void attend::core::Entry<Backend>::run_options(const Problem& problem, const Options& options) {
  EmbeddedPipeline<Isa, AllFeatures>(problem, options).run<true>();
}
