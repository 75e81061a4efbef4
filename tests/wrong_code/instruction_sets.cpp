//! backend_with_all_operations: nothing
#include "src/simd/contract.h"
#include "src/simd/scalar.h"
static_assert(attend::has_embedded_operations<attend::Scalar>(), "");

//! backend_without_max: attend: Vec max(Vec a, Vec b)
#include "src/simd/contract.h"
#include "src/simd/scalar.h"
struct WithoutMax : attend::Scalar {
  static float max(const float* numbers, int count);
};
static_assert(attend::has_common_operations<WithoutMax>(), "");
