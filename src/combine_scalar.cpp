// Adds up segments on embedded processors and for the scalar backend. Apart from backend_scalar.cpp, whose functions would be
// inlined in fewer places if these shared them, so that programs that do not cut keys would grow.
#include "attention/combine.h"
#include "backends.h"

template <>
void attend::core::Entry<attend::core::ScalarBackend>::combine(const Problem& problem, const float* partials) {
  add_segments<Scalar>(problem, partials);
}
