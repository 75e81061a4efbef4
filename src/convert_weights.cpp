// Weights of linear projections from floats to numbers of another format.
#include "../include/attend/core_linear.h"
#include "kernel/narrow.h"

namespace attend {
namespace core {

template <Format format>
void convert_weights(const float* rows, int outputs, int inputs, void* converted, float* scales) {
  auto* const to = static_cast<NumberOf<format>*>(converted);
  for (int output = 0; output < outputs; ++output) {
    const ptrdiff_t at = ptrdiff_t(output) * inputs;
    narrow_row_to<format>(rows + at, inputs, to + at, 1, scales + (format == Format::int8 ? output : 0));
  }
}

template void convert_weights<Format::float16>(const float*, int, int, void*, float*);
template void convert_weights<Format::bfloat16>(const float*, int, int, void*, float*);
template void convert_weights<Format::int8>(const float*, int, int, void*, float*);

}  // namespace core
}  // namespace attend
