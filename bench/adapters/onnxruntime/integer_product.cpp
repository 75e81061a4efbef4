#include "integer_product.h"

#include <attend/core/linear.h>

#include "rows.h"

namespace attend_adapter::onnx {

namespace {

// Numbers [inputs][outputs], read as rows of an output.
struct Columns {
  const uint8_t* data;
  std::ptrdiff_t stride;
  int flip;
  struct Row {
    const uint8_t* data;
    std::ptrdiff_t stride;
    int flip;
    int8_t operator[](int input) const { return int8_t(data[input * stride] ^ flip); }
  };
  Row operator[](int output) const { return {data + output, stride, flip}; }
};

constexpr int panel = 32;  // outputs of the library's integer panels

}  // namespace

PackedIntegers::PackedIntegers(const Tensor& weights, const uint8_t* numbers)
    : inputs_(narrow(weights.shape[weights.shape.rank() == 1 ? 0 : -2])),
      outputs_(weights.shape.rank() == 1 ? 1 : narrow(weights.shape[-1])),
      shift_(weights.type == uint8 ? 128 : 0),
      sums_(std::size_t(outputs_), 0) {
  const Columns columns{numbers, outputs_, weights.type == uint8 ? 0x80 : 0};
  panels_ = memory_.numbers<int8_t>(attend::core::packed_integer_weight_bytes(outputs_, inputs_) + 1);
  if (panels_ == nullptr) refuse("there is not enough memory", fail);
  attend::core::pack_integer_weights(columns, outputs_, inputs_, panels_);
  for (int k = 0; k < inputs_; ++k) {
    for (int n = 0; n < outputs_; ++n)
      sums_[std::size_t(n)] += int8_t(numbers[std::ptrdiff_t(k) * outputs_ + n] ^ columns.flip);
  }
}

std::vector<int32_t> zero_points(const Tensor& tensor, int shift) {
  if (!tensor) return {-shift};
  expect(tensor.type == uint8 || tensor.type == int8,
         std::string("zero points are of ") + name_of(tensor.type) + ", expected int8 or uint8");
  std::vector<int32_t> zeros;
  for (int64_t i = 0; i < tensor.shape.count(); ++i)
    zeros.push_back((tensor.type == uint8 ? int32_t(tensor.as<uint8_t>()[i]) : int32_t(tensor.as<int8_t>()[i])) - shift);
  return zeros;
}

const int8_t* signed_numbers(const Tensor& tensor, WorkMemory& memory) {
  if (tensor.type == int8) return tensor.as<int8_t>();
  const int64_t count = tensor.shape.count();
  uint8_t* const to = memory.numbers<uint8_t>(count);
  for (int64_t i = 0; i < count; ++i) to[i] = tensor.as<uint8_t>()[i] ^ 0x80;
  return reinterpret_cast<int8_t*>(to);
}

void multiply(const IntegerProduct& product, const Call& call) {
  const PackedIntegers& weights = product.weights;
  const int inputs = weights.inputs(), outputs = weights.outputs(), rows = product.rows;
  const bool simple = product.left_zero.size() == 1 && product.right_zero.size() == 1 && product.right_zero[0] == 0;
  const int panels = (outputs + panel - 1) / panel;
  const std::size_t panel_bytes = attend::core::packed_integer_weight_bytes(panel, inputs);
  const Parallel parallel = call.parallel(double(rows) * inputs * outputs / 4);
  const bool by_rows = rows >= 4 * parallel.threads;
  parallel.each(parallel.threads, [&](int part) {
    const auto piece = [&](int count, int at) { return int(int64_t(count) * at / parallel.threads); };
    const int first_row = by_rows ? piece(rows, part) : 0, end_row = by_rows ? piece(rows, part + 1) : rows;
    const int first_panel = by_rows ? 0 : piece(panels, part), end_panel = by_rows ? panels : piece(panels, part + 1);
    const int first = first_panel * panel, end = end_panel * panel < outputs ? end_panel * panel : outputs;
    if (first_row >= end_row || first >= end) return;
    attend::core::IntegerLinear linear{};
    linear.input = product.left + std::ptrdiff_t(first_row) * inputs;
    linear.output = product.output + std::ptrdiff_t(first_row) * outputs + first;
    linear.weights = weights.panels() + panel_bytes * std::size_t(first_panel);
    linear.input_stride = linear.weight_stride = linear.inputs = inputs;
    linear.output_stride = outputs;
    linear.outputs = end - first;
    linear.tokens = end_row - first_row;
    linear.input_zero = simple ? product.left_zero[0] : 0;
    attend::core::run_packed_integer_linear<int32_t>(linear);
    if (simple) return;
    for (int row = first_row; row < end_row; ++row) {
      uint32_t row_sum = 0;
      for (int k = 0; k < inputs; ++k) row_sum += uint32_t(product.left[std::ptrdiff_t(row) * inputs + k]);
      const uint32_t left_zero = uint32_t(product.left_zero[product.left_zero.size() > 1 ? std::size_t(row) : 0]);
      for (int n = first; n < end; ++n) {
        const uint32_t right_zero = uint32_t(product.right_zero[product.right_zero.size() > 1 ? std::size_t(n) : 0]);
        int32_t& sum = product.output[std::ptrdiff_t(row) * outputs + n];
        sum = int32_t(uint32_t(sum) - left_zero * uint32_t(weights.sums()[std::size_t(n)]) -
                      right_zero * (row_sum - uint32_t(inputs) * left_zero));
      }
    }
  });
}

void range_of(const float* x, int64_t count, float& least, float& most) {
  for (int64_t i = 0; i < count; ++i) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
}

Quantised quantisation_of(float least, float most) {
  Quantised by{};
  by.scale = most == least ? 1 : (most - least) / 255;
  const float zero = -least / by.scale;
  by.zero = uint8_t(zero >= 0 ? (zero <= 255 ? __builtin_nearbyintf(zero) : 255.0f) : 0.0f);
  return by;
}

void quantise(const float* x, int64_t count, const Quantised& by, uint8_t* to) {
  constexpr float to_whole = 12582912;  // 1.5 * 2^23: a sum with it is rounded to whole numbers, ties to even
  for (int64_t i = 0; i < count; ++i) {
    const float step = x[i] / by.scale;
    const float near = step >= -300 ? (step <= 300 ? step : 300) : -300;
    const float number = (near + to_whole) - to_whole + float(by.zero);
    to[i] = uint8_t(int32_t(number >= 0 ? (number <= 255 ? number : 255) : 0));
  }
}

}  // namespace attend_adapter::onnx
