// The scalar backend: any target, and the reference for the others.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"
#include "row_block.h"
#include "simd/scalar.h"

void attend::core::run_scalar(const Problem& problem) { run_problem<Scalar>(problem); }
