// What both runtimes' tensors tell of themselves: TensorFlow Lite and TFLite Micro have the same names for it.
#pragma once

#include <tensorflow/lite/c/common.h>

#include <cstddef>

#include "refusal.h"

namespace attend_tflite {

inline int rank(const TfLiteTensor& tensor) { return tensor.dims == nullptr ? 0 : tensor.dims->size; }
inline int dim(const TfLiteTensor& tensor, int axis) { return tensor.dims->data[axis]; }

inline bool same_shape(const TfLiteTensor& a, const TfLiteTensor& b) {
  if (rank(a) != rank(b)) return false;
  for (int axis = 0; axis < rank(a); ++axis) {
    if (dim(a, axis) != dim(b, axis)) return false;
  }
  return true;
}

// Four axes, none of them negative, and bytes for all of their numbers of `size` bytes. (Overflow is found by dividing.)
inline bool has_four_axes(const TfLiteTensor& tensor, std::size_t size) {
  if (rank(tensor) != 4) return false;
  std::size_t numbers = size;
  for (int axis = 0; axis < 4; ++axis) {
    if (dim(tensor, axis) < 0) return false;
    const std::size_t extent = std::size_t(dim(tensor, axis));
    if (extent != 0 && numbers > std::size_t(PTRDIFF_MAX) / extent) return false;
    numbers *= extent;
  }
  return true;
}

// real = scale * (number - zero), of a tensor with one scale.
struct Scale {
  double scale;
  int zero;
};
inline bool scale_of(const TfLiteTensor& tensor, Scale* scale) {
  if (tensor.quantization.type != kTfLiteAffineQuantization || tensor.quantization.params == nullptr) return false;
  const auto* const affine = static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
  if (affine->scale == nullptr || affine->scale->size != 1 || affine->zero_point == nullptr || affine->zero_point->size != 1)
    return false;
  scale->scale = double(affine->scale->data[0]);
  scale->zero = affine->zero_point->data[0];
  return true;
}

inline bool same_scale(const TfLiteTensor& a, const TfLiteTensor& b) {
  Scale of_a, of_b;
  return scale_of(a, &of_a) && scale_of(b, &of_b) && of_a.scale == of_b.scale && of_a.zero == of_b.zero;
}

}  // namespace attend_tflite
