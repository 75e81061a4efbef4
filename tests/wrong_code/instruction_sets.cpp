//! backend_without_max: at Vec (*max)(Vec a, Vec b) = &Isa::max;
#define ATTEND_ISA tested
#include "src/isa/begin.h"

#include "src/isa/contract.h"
#include "src/isa/scalar/operations.h"
struct WithoutMax : attend::tested::Scalar {
  static float max(const float* numbers, int count);
};
static_assert(attend::tested::has_embedded_operations<WithoutMax>(), "");
