//! backend_without_max: attend: Vec max(Vec a, Vec b)
#include "src/simd/contract.h"
#include "src/simd/scalar.h"
struct WithoutMax : attend::Scalar {
  static float max(const float* numbers, int count);
};
static_assert(attend::has_common_operations<WithoutMax>(), "");
