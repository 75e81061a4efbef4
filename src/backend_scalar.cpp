// The scalar backend: any target, and the reference for the others.
#include "backends.h"
#include "row_block.h"
#include "simd/scalar.h"

void attend::core::run_scalar(const Problem& problem) { run_problem<Scalar>(problem); }
