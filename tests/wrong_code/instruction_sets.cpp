//! backend_without_max: at Vec (*max)(Vec a, Vec b) = &Isa::max;
#include "src/simd/contract.h"
#include "src/simd/scalar.h"
struct WithoutMax : attend::Scalar {
  static float max(const float* numbers, int count);
};
static_assert(attend::has_embedded_operations<WithoutMax>(), "");
