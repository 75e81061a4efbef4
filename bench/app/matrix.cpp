#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

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

float widened_half(const unsigned char* bytes) {
  const int code = bytes[0] | bytes[1] << 8, exponent = code >> 10 & 31, fraction = code & 1023;
  const float magnitude = exponent == 0    ? std::ldexp(float(fraction), -24)
                          : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                           : std::ldexp(float(fraction + 1024), exponent - 25);
  return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

float number_at(const Matrix& matrix, std::ptrdiff_t place, int row) {
  const void* const numbers = matrix.numbers;
  if (matrix.kind == NumberKind::float32) return static_cast<const float*>(numbers)[place];
  if (matrix.kind == NumberKind::int8) return matrix.scales[row] * static_cast<const std::int8_t*>(numbers)[place];
  const std::uint16_t code = static_cast<const std::uint16_t*>(numbers)[place];
  if (matrix.kind == NumberKind::float16) {
    const unsigned char bytes[] = {static_cast<unsigned char>(code), static_cast<unsigned char>(code >> 8)};
    return widened_half(bytes);
  }
  const std::uint32_t bits = std::uint32_t(code) << 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

int whole_of(unsigned char byte) { return (byte ^ 128) - 128; }

// The numbers of a block. In bytes of two numbers, the lower halves are the first and the upper ones the others.
void read_q8_0(const unsigned char* block, float* to) {
  const float scale = widened_half(block);
  for (int i = 0; i < 32; ++i) to[i] = scale * float(whole_of(block[2 + i]));
}
void read_q4_0(const unsigned char* block, float* to) {
  const float scale = widened_half(block);
  for (int i = 0; i < 16; ++i) {
    to[i] = scale * float((block[2 + i] & 15) - 8);
    to[i + 16] = scale * float((block[2 + i] >> 4) - 8);
  }
}
// Lower 4 bits of 256 numbers, their upper 2 bits, a factor of 8 bits for each 16 of them, and the scale. Products are exact.
void read_q6_k(const unsigned char* block, float* to) {
  const unsigned char *const low = block, *const high = block + 128, *const factors = block + 192;
  const float scale = widened_half(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, quarter = i % 128 / 32, at = i % 32;
    const int lower = low[half * 64 + quarter % 2 * 32 + at] >> (quarter / 2 * 4) & 15;
    const int upper = high[half * 32 + at] >> (quarter * 2) & 3;
    to[i] = scale * float(whole_of(factors[i / 16])) * float((lower | upper << 4) - 32);
  }
}

void read_blocks(const Matrix& matrix, int row, float* to) {
  const auto read = matrix.kind == NumberKind::q8_0 ? read_q8_0 : matrix.kind == NumberKind::q4_0 ? read_q4_0 : read_q6_k;
  const int inputs = block_inputs(matrix.kind), bytes = int(bytes_of(matrix.kind, std::uint64_t(inputs)));
  const unsigned char* block =
      static_cast<const unsigned char*>(matrix.numbers) + std::ptrdiff_t(row) * (matrix.inputs / inputs) * bytes;
  for (int i = 0; i < matrix.inputs; i += inputs, block += bytes) read(block, to + i);
}

// A row of q4_0 in panels: as blocks again.
void read_panel(const Matrix& matrix, int row, float* to) {
  const int groups = matrix.inputs / attend::core::int4_group, lane = row % panel_keys;
  const auto* const panels =
      static_cast<const attend::core::Int4Panel*>(matrix.numbers) + row / panel_keys * std::ptrdiff_t(groups);
  for (int group = 0; group < groups; ++group) {
    const attend::core::Int4Panel& panel = panels[group];
    unsigned char block[18] = {static_cast<unsigned char>(panel.scales[lane] & 255),
                               static_cast<unsigned char>(panel.scales[lane] >> 8)};
    for (int i = 0; i < 16; ++i) block[2 + i] = panel.numbers[i / 4][lane][i % 4];
    read_q4_0(block, to + group * attend::core::int4_group);
  }
}

void* aligned_memory(std::uint64_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2)
    throw std::bad_alloc();  // the addresses of some machines have 32 bits
  return ::operator new[](static_cast<std::size_t>(bytes), alignment);
}

// Calls with the format of the library that the numbers are in.
template <class Call>
void with_format(NumberKind kind, Call call) {
  switch (kind) {
    case NumberKind::float16:
      return call(std::integral_constant<Format, Format::float16>());
    case NumberKind::bfloat16:
      return call(std::integral_constant<Format, Format::bfloat16>());
    case NumberKind::int8:
      return call(std::integral_constant<Format, Format::int8>());
    case NumberKind::q4_0:
      return call(std::integral_constant<Format, Format::int4>());
    default:
      return call(std::integral_constant<Format, Format::float32>());
  }
}

}  // namespace

void FreeAligned::operator()(void* memory) const { ::operator delete[](memory, alignment); }

AlignedFloats aligned_floats(std::size_t count) {
  return AlignedFloats(static_cast<float*>(aligned_memory(std::uint64_t(count) * sizeof(float))));
}

void project(const Matrix& matrix, const float* input, float* output, const float* bias) {
  attend::core::Linear linear{};
  linear.input = input;
  linear.output = output;
  linear.weights = matrix.numbers;
  linear.scales = matrix.scales;
  linear.bias = bias;
  linear.input_stride = linear.weight_stride = linear.inputs = matrix.inputs;
  linear.output_stride = linear.outputs = matrix.outputs;
  linear.tokens = 1;
  linear.panels = matrix.panels;
  with_format(matrix.kind, [&](auto format) { attend::core::run_linear<format()>(linear); });
}

void read_row(const Matrix& matrix, int row, float* to) {
  if (in_blocks(matrix.kind)) return matrix.panels ? read_panel(matrix, row, to) : read_blocks(matrix, row, to);
  for (int input = 0; input < matrix.inputs; ++input) to[input] = number_at(matrix, place_of(matrix, row, input), row);
}

Matrix packed(const Matrix& matrix, std::shared_ptr<const void>& memory) {
  Matrix result = matrix;
  if (of_files_alone(matrix.kind)) result.kind = NumberKind::float32;
  const std::size_t numbers = attend::core::packed_weight_numbers(matrix.outputs, matrix.inputs);
  unsigned char* const panels = static_cast<unsigned char*>(aligned_memory(bytes_of(result.kind, numbers)));
  memory = std::shared_ptr<const void>(panels, FreeAligned());
  const int inputs = matrix.inputs;
  if (of_files_alone(matrix.kind)) {
    const AlignedFloats rows = aligned_floats(std::size_t(panel_keys) * std::size_t(inputs));
    for (int first = 0; first < matrix.outputs; first += panel_keys) {
      const int count = std::min(panel_keys, matrix.outputs - first);
      for (int row = 0; row < count; ++row) read_row(matrix, first + row, rows.get() + std::ptrdiff_t(row) * inputs);
      attend::core::pack_weights<Format::float32>(rows.get(), inputs, count, inputs,
                                                  panels + sizeof(float) * std::size_t(first) * std::size_t(inputs));
    }
  } else {
    with_format(matrix.kind, [&](auto format) {
      attend::core::pack_weights<format()>(matrix.numbers, inputs, matrix.outputs, inputs, panels);
    });
  }
  result.numbers = panels;
  result.panels = true;
  return result;
}

void pack(Matrix& matrix, std::vector<std::shared_ptr<const void>>& storage) {
  storage.emplace_back();
  matrix = packed(matrix, storage.back());
}

}  // namespace app
