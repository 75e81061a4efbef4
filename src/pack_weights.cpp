// Weights of linear projections from rows to panels, for extents that are known at run time only.
#include "../include/attend/core_linear.h"
#include "numerics/formats.h"

namespace attend {
namespace core {

template <Format format>
void pack_weights(const void* rows, ptrdiff_t stride, int outputs, int inputs, void* panels) {
  const auto* const from = static_cast<const NumberOf<format>*>(rows);
  auto* to = static_cast<NumberOf<format>*>(panels);
  for (int first = 0; first < outputs; first += panel_keys) {
    for (int input = 0; input < inputs; ++input) {
      for (int output = first; output < first + panel_keys; ++output) {
        *to++ = output < outputs ? from[output * stride + input] : NumberOf<format>{};
      }
    }
  }
}

template void pack_weights<Format::float32>(const void*, ptrdiff_t, int, int, void*);
template void pack_weights<Format::float16>(const void*, ptrdiff_t, int, int, void*);
template void pack_weights<Format::bfloat16>(const void*, ptrdiff_t, int, int, void*);
template void pack_weights<Format::int8>(const void*, ptrdiff_t, int, int, void*);

}  // namespace core
}  // namespace attend
