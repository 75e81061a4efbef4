// A matrix of a model: as the library's projections read it, in rows or packed, or as it lies in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attend/layers/core_linear.h"

namespace app {

struct FreeAligned {
  void operator()(void* memory) const;
};

// Memory aligned as the library likes it, uninitialised.
using AlignedFloats = std::unique_ptr<float[], FreeAligned>;
AlignedFloats aligned_floats(std::size_t count);

// How numbers lie. The last three are blocks with scales and numbers of 8, 4 or 6 bits, two of them of files alone.
enum class NumberKind { float32, float16, bfloat16, int8, q8_0, q4_0, q6_k };

// Inputs of a block.
constexpr int block_inputs(NumberKind kind) {
  return kind == NumberKind::q8_0 || kind == NumberKind::q4_0 ? 32 : kind == NumberKind::q6_k ? 256 : 1;
}

// Bytes of so many numbers, whole blocks of them.
constexpr std::uint64_t bytes_of(NumberKind kind, std::uint64_t count) {
  constexpr unsigned char bytes[] = {4, 2, 2, 1, 2 + 32, 2 + 16, 128 + 64 + 16 + 2};  // of a block
  return count / std::uint64_t(block_inputs(kind)) * bytes[int(kind)];
}

constexpr bool in_blocks(NumberKind kind) { return block_inputs(kind) > 1; }

// Whether the library has no such format.
constexpr bool of_files_alone(NumberKind kind) { return kind == NumberKind::q8_0 || kind == NumberKind::q6_k; }

struct Matrix {
  int outputs = 0, inputs = 0;
  const void* numbers = nullptr;  // [outputs][inputs], or panels of 16 outputs
  const float* scales = nullptr;  // [outputs], of int8
  bool panels = false;
  NumberKind kind = NumberKind::float32;
};

// output[o] = sum over i of matrix[o][i] * input[i], plus bias[o] where there is a bias; not of blocks of files alone
void project(const Matrix& matrix, const float* input, float* output, const float* bias = nullptr);

// A row as floats: [inputs]
void read_row(const Matrix& matrix, int row, float* to);

// The same matrix in panels, which hosts read fastest; blocks of files alone as float32, which has the same values. `memory` is
// what they are in.
Matrix packed(const Matrix& matrix, std::shared_ptr<const void>& memory);

// Packs a matrix of a model, and keeps its memory with that of the model's other ones.
void pack(Matrix& matrix, std::vector<std::shared_ptr<const void>>& storage);

}  // namespace app
