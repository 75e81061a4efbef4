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

// output[m][n] = sum over k of (left[m][k] - left_zero[m]) * (weights[k][n] - right_zero[n]), modulo 2^32.
struct IntegerProduct {
  const int8_t* left;  // [rows][inputs]
  int rows;
  const PackedIntegers& weights;
  const std::vector<int32_t>& left_zero;   // one, or `rows`
  const std::vector<int32_t>& right_zero;  // one, or `outputs`
  int32_t* output;
};
void multiply(const IntegerProduct& product, const Call& call);

// Numbers of int8 or uint8 as int8, which uint8 is 128 less as.
const int8_t* signed_numbers(const Tensor& tensor, WorkMemory& memory);

// uint8 numbers of floats by the definition of DynamicQuantizeLinear: number = round(x / scale) + zero, ties to even.
struct Quantised {
  float scale;
  uint8_t zero;
};
Quantised quantisation_of(float least, float most);
void range_of(const float* x, int64_t count, float& least, float& most);
void quantise(const float* x, int64_t count, const Quantised& by, uint8_t* to);

}  // namespace attend_adapter::onnx
