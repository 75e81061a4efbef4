// Products of matrices, of batches of them, and of matrices that are packed once: what MatMul, Gemm and their kin share.
#pragma once

#include <optional>
#include <vector>

#include "../common/linear.h"
#include "call.h"

namespace attend_adapter::onnx {

// A matrix of a product, or a batch of them, as it lies in a tensor.
struct Matrices {
  const float* data;
  std::ptrdiff_t stride;  // from one row that lies side by side to the next
  bool transposed;        // rows that lie side by side are columns of the matrix
};

// output[i][m][n] = alpha * sum over k of left[i][m][k] * right[i][k][n], plus bias[n], which may be null, for each i. Sums are
// those of attend::core::Linear. Where `align` is set, the sums of a row begin with its first number on the left that is not 0:
// after a softmax that is the first key that is not masked, so that masked keys before it, as padding on the left, change no
// bit.
struct Product {
  Matrices left, right;
  std::vector<std::ptrdiff_t> left_offsets, right_offsets;  // of each i
  int rows, inner, columns;
  const PackedWeights* packed;  // the right one, where it is the same in all calls; or null
  const float* bias;
  float alpha;
  bool align;
  float* output;  // dense
  void (*activation)(const float* from, const float* by, int count,
                     float* to);  // of the output, where the right matrix is packed; or null
};
void multiply(const Product& product, const Call& call);

// Packs constant weights [inputs][outputs], or with `rows` [outputs][inputs]. False where they stay as they are.
inline bool pack_weights(const Tensor& weights, bool rows, std::optional<PackedWeights>& to) {
  if (weights.type != float32 || weights.shape.rank() != 2 || weights.shape.count() == 0) return false;
  PackedWeights packed;
  if (!packed.pack(weights.floats(), narrow(weights.shape[rows ? 0 : 1]), narrow(weights.shape[rows ? 1 : 0]), !rows))
    return false;
  to.emplace(std::move(packed));
  return true;
}

}  // namespace attend_adapter::onnx
