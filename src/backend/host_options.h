// The entry points of calls with options of a host's backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../attention/combine_options.h"
#include "../attention/host.h"

template <>
void attend::core::Entry<Backend>::run_options(const Problem& problem, const Options& options) {
  run_with_options<Isa, Backend>(problem, options);
}
template <>
void attend::core::Entry<Backend>::combine_options(const Problem& problem, const Options& options, const float* partials) {
  add_segments<Isa>(problem, options, partials);
}
