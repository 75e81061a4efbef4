// The entry point of integer attention of a backend. Before this a source names the `Backend` and its `Isa`.
#pragma once

#include "../attention/integer.h"

template <>
ATTEND_HOT void attend::core::IntegerEntry<Backend>::run(const IntegerProblem& problem) {
  IntegerPipeline<Isa, NoIntegerOptions>(problem, {}).run();
}
