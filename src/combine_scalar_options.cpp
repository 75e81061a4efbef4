// Adds up segments of calls with options on embedded processors and for the scalar backend. Apart from
// backend_scalar_options.cpp, so that programs that do not cut keys hold none of it.
#include "attention/combine_options.h"
#include "backends.h"

template <>
void attend::core::Entry<attend::core::ScalarBackend>::combine_options(const Problem& problem, const Options& options,
                                                                       const float* partials) {
  add_segments<Scalar>(problem, options, partials);
}
