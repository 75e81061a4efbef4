#include "matrix.h"

#include <algorithm>
#include <cstdint>
#include <new>

namespace app {
namespace {

using attend::panel_keys, attend::core::Format;

constexpr auto alignment = std::align_val_t(attend::config::alignment);

// Where a number of a matrix lies.
std::ptrdiff_t place_of(const Matrix& matrix, int row, int input) {
  const auto lane = std::ptrdiff_t(row % panel_keys);
  return matrix.panels ? (row - lane) * matrix.inputs + input * std::ptrdiff_t(panel_keys) + lane
                       : std::ptrdiff_t(row) * matrix.inputs + input;
}

}  // namespace

void FreeAligned::operator()(void* memory) const { ::operator delete[](memory, alignment); }

AlignedFloats aligned_floats(std::size_t count) {
  return AlignedFloats(static_cast<float*>(::operator new[](count * sizeof(float), alignment)));
}

void project(const Matrix& matrix, const float* input, float* output) {
  attend::core::Linear linear{};
  linear.input = input;
  linear.output = output;
  linear.weights = matrix.numbers;
  linear.scales = matrix.scales;
  linear.input_stride = linear.weight_stride = linear.inputs = matrix.inputs;
  linear.output_stride = linear.outputs = matrix.outputs;
  linear.tokens = 1;
  linear.panels = matrix.panels;
  if (matrix.scales == nullptr) {
    attend::core::run_linear<Format::float32>(linear);
  } else {
    attend::core::run_linear<Format::int8>(linear);
  }
}

void read_row(const Matrix& matrix, int row, float* to) {
  for (int input = 0; input < matrix.inputs; ++input) {
    const std::ptrdiff_t place = place_of(matrix, row, input);
    to[input] = matrix.scales == nullptr ? static_cast<const float*>(matrix.numbers)[place]
                                         : matrix.scales[row] * static_cast<const std::int8_t*>(matrix.numbers)[place];
  }
}

Matrix packed(const Matrix& matrix, std::shared_ptr<const void>& memory) {
  const std::size_t numbers = attend::core::packed_weight_numbers(matrix.outputs, matrix.inputs);
  void* const panels = ::operator new[](numbers* matrix.number_bytes(), alignment);
  memory = std::shared_ptr<const void>(panels, FreeAligned());
  if (matrix.scales == nullptr) {
    attend::core::pack_weights<Format::float32>(matrix.numbers, matrix.inputs, matrix.outputs, matrix.inputs, panels);
  } else {
    attend::core::pack_weights<Format::int8>(matrix.numbers, matrix.inputs, matrix.outputs, matrix.inputs, panels);
  }
  Matrix result = matrix;
  result.numbers = panels;
  result.panels = true;
  return result;
}

}  // namespace app
