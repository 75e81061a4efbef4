// The entry point of integer attention with options of a backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../attention/integer.h"

template <>
void attend::core::IntegerEntry<Backend>::run_options(const IntegerProblem& problem, const IntegerOptions& options) {
  IntegerPipeline<Isa, IntegerOptions>(problem, options).run();
}
