// Integer attention with options: which kernels compute it.
#include "integer_backends.h"

void attend::core::run(const IntegerProblem& problem, const IntegerOptions& options) {
  call_integer([](auto backend) { return &IntegerEntry<decltype(backend)>::run_options; }, problem, options);
}
