// Integer attention: which kernels compute it.
#include "integer_backends.h"

void attend::core::run(const IntegerProblem& problem) {
  call_integer([](auto backend) { return &IntegerEntry<decltype(backend)>::run; }, problem);
}
