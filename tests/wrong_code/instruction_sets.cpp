//! backend_without_max: at Vec (*max)(Vec a, Vec b) = &Isa::max;
#include "src/isa/contract.h"
#include "src/isa/scalar/operations.h"
struct WithoutMax : attend::Scalar {
  static float max(const float* numbers, int count);
};
static_assert(attend::has_embedded_operations<WithoutMax>(), "");
