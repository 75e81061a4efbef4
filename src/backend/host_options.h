// The entry point of calls with options of a host's backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../attention/host.h"

template <>
void attend::core::Entry<Backend>::run_options(const Problem& problem, const Options& options) {
  run_with_options<Isa, Backend>(problem, options);
}
