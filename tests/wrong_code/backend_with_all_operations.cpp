// expect: nothing
#include "../../src/simd/contract.h"
#include "../../src/simd/scalar.h"

static_assert(attend::has_embedded_operations<attend::Scalar>(), "");
