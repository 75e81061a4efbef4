// Products of matrices of 8-bit numbers, exact in 32 bits, by weights that are packed once.
#pragma once

#include <vector>

#include "call.h"

namespace attend_adapter::onnx {

// [inputs][outputs] of int8 or uint8, as the library's panels of int8: numbers of uint8 are 128 less, and so is their zero
// point.
class PackedIntegers {
 public:
  PackedIntegers(const Tensor& weights, const uint8_t* numbers);
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  int shift() const { return shift_; }  // what numbers, and zero points, were lowered by
  const int8_t* panels() const { return panels_; }
  const std::vector<int32_t>& sums() const { return sums_; }  // of each output's weights

 private:
  int inputs_, outputs_, shift_;
  Memory memory_;
  int8_t* panels_;
  std::vector<int32_t> sums_;
};

// Zero points of the lowered numbers, as many as the tensor has; of none, the one that 0 becomes.
std::vector<int32_t> zero_points(const Tensor& tensor, int shift);

// The left rows of products: numbers of 8 bits, each row with a zero point. Rows of floats become these first, each by a range
// of its own: neighbours in a batch, and padding, change no bit.
struct IntegerRows {
  int rows, inputs;
  const float* floats;    // [rows][inputs], of no inputs perhaps null; read where `quantised` is not null
  const int8_t* numbers;  // of `quantised`, where rows were floats
  const int32_t* zeros;
  const float* scales;  // null where no product is of floats
  int8_t* quantised;    // what floats become, and null where `numbers` and what belongs to them is there already
  int32_t* quantised_zeros;
  float* quantised_scales;
};

// sum[m][n] = sum over k of (left[m][k] - zeros[m]) * (weights[k][n] - right_zero[n]), modulo 2^32, and where floats are asked
// for output[m][n] = sum[m][n] * (left scales[m] * scales[n]), plus bias[n], and its activation.
struct IntegerProduct {
  const PackedIntegers& weights;
  std::vector<int32_t> right_zero;  // one, or `outputs`
  int32_t* sums;                    // [rows][outputs], or null:
  float* output;
  const float* scales;  // `outputs`, or one
  bool one_scale;
  const float* bias;                                                             // or null
  void (*activation)(const float* from, const float* by, int count, float* to);  // or null
};

// All products of the same rows, of as many inputs.
void multiply(const IntegerRows& left, const std::vector<IntegerProduct>& products, const Call& call);

// Numbers of int8 or uint8 as int8, which uint8 is 128 less as.
const int8_t* signed_numbers(const Tensor& tensor, WorkMemory& memory);

}  // namespace attend_adapter::onnx
