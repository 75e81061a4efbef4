#include "integer_product.h"

#include <attend/layers/core_linear.h>

#include <cstring>

#include "bytes.h"

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

namespace {

// One matrix at a time, by few outputs and few rows, so that sums are in the
// cache when they are taken on from.
class Multiplication {
 public:
  Multiplication(const IntegerRows& left, const std::vector<IntegerProduct>& products) : left_(left), products_(products) {}

  // Rows that are quantised, if they have to be, and multiplied by all weights.
  void rows(int first, int end) const {
    for (int row = first; row < end; row += most_rows) {
      const int count = end - row < most_rows ? end - row : most_rows;
      quantise_rows(row, row + count);
      panels(row, count, 0, panels());
    }
  }
  void quantise_rows(int first, int end) const {
    for (int row = first; left_.quantised != nullptr && row < end; ++row) {
      const std::ptrdiff_t at = std::ptrdiff_t(row) * left_.inputs;
      float least = 0, most = 0;
      range_of(left_.floats + at, left_.inputs, least, most);
      const Quantised by = quantisation_of(least, most);
      left_.quantised_scales[row] = by.scale;
      left_.quantised_zeros[row] = int32_t(by.zero) - 128;
      quantise(left_.floats + at, left_.inputs, by, 128, reinterpret_cast<uint8_t*>(left_.quantised + at));
    }
  }
  // All rows and panels first … end - 1 of the weights of all products, one
  // after the other.
  void all_rows(int first, int end) const {
    for (int row = 0; row < left_.rows; row += most_rows)
      panels(row, left_.rows - row < most_rows ? left_.rows - row : most_rows, first, end);
  }
  int panels() const {
    int all = 0;
    for (const IntegerProduct& product : products_) all += panels_of(product);
    return all;
  }

 private:
  static constexpr int most_rows = 48,
                       most_outputs = 4 * panel;  // multiples of what the library has at a time

  static int panels_of(const IntegerProduct& product) { return (product.weights.outputs() + panel - 1) / panel; }

  void panels(int row, int count, int first, int end) const {
    int before = 0;
    for (const IntegerProduct& product : products_) {
      const int own = panels_of(product), own_end = end - before < own ? end - before : own;
      int own_first = first - before > 0 ? first - before : 0;
      for (; own_first < own_end; own_first += most_outputs / panel) {
        const int output = own_first * panel, limit = own_end * panel;
        const int last = limit < product.weights.outputs() ? limit : product.weights.outputs();
        piece(product, row, count, output, last - output < most_outputs ? last - output : most_outputs);
      }
      before += own;
    }
  }

  void piece(const IntegerProduct& product, int row, int rows, int output, int outputs) const {
    const PackedIntegers& weights = product.weights;
    const std::ptrdiff_t stride = weights.outputs(), inputs = left_.inputs;
    int32_t sums[most_rows * most_outputs];
    attend::core::IntegerLinear linear{};
    linear.input = left_.numbers + row * inputs;
    linear.output = sums;
    linear.weights =
        weights.panels() + attend::core::packed_integer_weight_bytes(panel, left_.inputs) * std::size_t(output / panel);
    linear.input_stride = linear.weight_stride = inputs;
    linear.inputs = left_.inputs;
    linear.output_stride = most_outputs;
    linear.outputs = outputs;
    linear.tokens = rows;
    attend::core::run_packed_integer_linear<4>(linear);
    for (int r = 0; r < rows; ++r) {
      int32_t* const sum = sums + r * most_outputs;
      const int32_t zero = left_.zeros[row + r];
      const int32_t* const weight_sums = weights.sums().data() + output;
      const std::ptrdiff_t at = (row + r) * stride + output;
      subtract_right(product, row + r, zero, output, outputs, sum);
      if (product.sums != nullptr) {
        subtract(sum, weight_sums, uint32_t(zero), outputs);
        std::memcpy(product.sums + at, sum, std::size_t(outputs) * sizeof(int32_t));
        continue;
      }
      FloatEnd end{weight_sums, uint32_t(zero), left_.scales[row + r], product.scales, product.one_scale, nullptr};
      if (!product.one_scale) end.scales += output;
      if (product.bias != nullptr) end.bias = product.bias + output;
      float* const to = product.output + at;
      to_floats(sum, end, outputs, to);
      if (product.activation != nullptr) product.activation(to, nullptr, outputs, to);
    }
  }
  // Zero points of weights times the row less its own.
  void subtract_right(const IntegerProduct& product, int row, int32_t zero, int output, int outputs, int32_t* sum) const {
    const std::vector<int32_t>& zeros = product.right_zero;
    if (zeros.size() == 1 && zeros[0] == 0) return;
    const uint32_t row_sum = uint32_t(sum_of(left_.numbers + std::ptrdiff_t(row) * left_.inputs, left_.inputs)) -
                             uint32_t(left_.inputs) * uint32_t(zero);
    if (zeros.size() > 1) return subtract(sum, zeros.data() + output, row_sum, outputs);
    for (int n = 0; n < outputs; ++n) sum[n] = int32_t(uint32_t(sum[n]) - row_sum * uint32_t(zeros[0]));
  }

  const IntegerRows& left_;
  const std::vector<IntegerProduct>& products_;
};

}  // namespace

void multiply(const IntegerRows& left, const std::vector<IntegerProduct>& products, const Call& call) {
  const Multiplication all(left, products);
  const int panels = all.panels();
  const Parallel parallel = call.parallel(double(left.rows) * left.inputs * panels * panel / 4);
  const auto divided = [&](int count, const auto& work) {
    parallel.each(parallel.threads, [&](int part) {
      const auto piece = [&](int at) { return int(int64_t(count) * at / parallel.threads); };
      if (piece(part) < piece(part + 1)) work(piece(part), piece(part + 1));
    });
  };
  if (left.rows >= 4 * parallel.threads) {
    divided(left.rows, [&](int first, int end) { all.rows(first, end); });
  } else {
    all.quantise_rows(0, left.rows);
    divided(panels, [&](int first, int end) { all.all_rows(first, end); });
  }
}

}  // namespace attend_adapter::onnx
