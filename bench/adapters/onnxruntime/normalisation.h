// What operators that normalise rows share.
#pragma once

#include <attend/layers/core_layer.h>

#include <cmath>

#include "call.h"

namespace attend_adapter::onnx {

constexpr double norm_cost = 4;                      // of a number, in multiply-adds
constexpr float smallest_epsilon = 1.17549435e-38f;  // 2^-126: with 0 a row of equal numbers would be NaN

inline float epsilon_of(const Attributes& attributes, float otherwise) {
  const float epsilon = attributes.number("epsilon", otherwise);
  expect(epsilon >= 0 && std::isfinite(epsilon),
         "attribute epsilon is " + std::to_string(epsilon) + ", expected a finite number from 0 on");
  return epsilon < smallest_epsilon ? smallest_epsilon : epsilon;
}

// A weight, or what is added, of `width` numbers; one that may be left out is not refused where it is.
inline void expect_row(const Tensor& tensor, int64_t width, const char* name) {
  if (tensor)
    expect(tensor.shape.rank() == 1 && tensor.shape[0] == width,
           std::string(name) + " must have " + std::to_string(width) + " numbers, it is " + tensor.shape.text());
}

// Rows of `width` numbers, one after the other.
struct NormRows {
  const float* from;
  float* to;
  const float* weight;
  const float* bias;  // or null
  int64_t rows;
  int width;
  float epsilon;
  bool centred;  // LayerNormalization, otherwise RMSNormalization
};
inline void normalise(const NormRows& rows, int64_t first, int64_t end) {
  attend::core::Normalisation norm{};
  norm.from = rows.from + first * rows.width;
  norm.to = rows.to + first * rows.width;
  norm.from_stride = norm.to_stride = norm.width = rows.width;
  norm.weight = rows.weight;
  norm.bias = rows.bias;
  norm.rows = int(end - first);
  norm.epsilon = rows.epsilon;
  rows.centred ? attend::core::layer_norm(norm) : attend::core::rms_norm(norm);
}

}  // namespace attend_adapter::onnx
