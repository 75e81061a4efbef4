// A matrix of a model, as the library's projections read it: weights of 32 or 8 bits, in rows or packed.
#pragma once

#include <memory>

#include "attend/core/linear.h"

namespace app {

struct FreeAligned {
  void operator()(void* memory) const;
};

// Memory aligned as the library likes it, uninitialised.
using AlignedFloats = std::unique_ptr<float[], FreeAligned>;
AlignedFloats aligned_floats(std::size_t count);

struct Matrix {
  int outputs = 0, inputs = 0;
  const void* numbers = nullptr;  // [outputs][inputs] floats, or int8 where there are scales; or panels of 16 outputs
  const float* scales = nullptr;  // [outputs], of int8
  bool panels = false;

  std::size_t number_bytes() const { return scales == nullptr ? sizeof(float) : 1; }
};

// output[o] = sum over i of matrix[o][i] * input[i]
void project(const Matrix& matrix, const float* input, float* output);

// A row as floats: [inputs]
void read_row(const Matrix& matrix, int row, float* to);

// The same matrix in panels, which hosts read fastest; `memory` is what they are in.
Matrix packed(const Matrix& matrix, std::shared_ptr<const void>& memory);

}  // namespace app
