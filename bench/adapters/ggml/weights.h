// Memory for the weights of products, which it keeps as the library multiplies by them fastest: packed as panels of 16 outputs
// when the runtime loads a model, in the place of the rows of its file. There is no second copy.
#pragma once

#include "ggml.h"

namespace attend_ggml {

// The kind of memory. The scheduler of a runtime gives it to weights that only products read; everything else is in the CPU's.
BufferType* packed_weights(Device* device);

// Whether a tensor's memory is of the kind. Tensors of it are whole: no views.
bool is_packed(const Tensor& tensor);

// Weights that the library takes: float32, float16, bfloat16, Q8_0 and Q4_0.
bool is_weight_type(int type);

// Bytes of each of a tensor's matrices as panels.
std::size_t packed_matrix_bytes(const Tensor& weights);

}  // namespace attend_ggml
