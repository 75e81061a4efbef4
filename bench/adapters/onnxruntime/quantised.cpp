// Products in integers: DynamicQuantizeLinear and MatMulInteger of ONNX, and DynamicQuantizeMatMul and MatMulIntegerToFloat of ONNX Runtime.
#include <optional>

#include "fusion.h"
#include "integer_product.h"
#include "node.h"
#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

class DynamicQuantizeLinear : public Operator {
 public:
  void compute(Call& call) const override {
    const Tensor x = call.required(0, "x");
    uint8_t* const y = call.output<uint8_t>(0, x.shape);
    float* const scale = call.output(1, {});
    uint8_t* const zero = call.output<uint8_t>(2, {});
    const int64_t count = x.shape.count();
    float least = 0, most = 0;
    range_of(x.floats(), count, least, most);
    const Quantised by = quantisation_of(least, most);
    if (scale != nullptr) *scale = by.scale;
    if (zero != nullptr) *zero = by.zero;
    if (y != nullptr) for_pieces(call, count, 2, [&](int64_t first, int64_t end) { quantise(x.floats() + first, end - first, by, y + first); });
  }
};

// The operators that multiply by weights of 8 bits. They differ in where the factors of their sums come from.
class IntegerMatMul : public Operator {
 public:
  bool pack(int input, const Tensor& weights) override {
    if (input != 1 || (weights.type != int8 && weights.type != uint8) || weights.shape.rank() != 2 || weights.shape.count() == 0) return false;
    if (weights.shape[0] > attend_limit) return false;
    packed_.emplace(weights, weights.as<uint8_t>());
    return true;
  }

 protected:
  static constexpr int64_t attend_limit = 65536;  // products that fit into 32 bits

  static bool is_8_bits(Type type) { return type == int8 || type == uint8; }

  // Calls use(weights) with those of each matrix of a batch, and where its rows of A and of the output begin.
  struct Batch {
    Shape shape;  // of the output
    int64_t rows, inner, columns, count;  // of a matrix; matrices
    bool shared;  // all matrices have the same weights
  };
  Batch batch_of(const Shape& a, const Shape& b) const {
    const std::string both = "A is " + a.text() + ", B is " + b.text();
    expect(a.rank() >= 1 && b.rank() >= 1, "A and B must have at least one axis");
    Batch batch{};
    expect(b.rank() == 2 || (b.rank() > 2 && a.rank() == b.rank()), "B must have 2 axes, or as many as A: " + both);
    batch.inner = b[-2];
    batch.columns = b[-1];
    expect(a[-1] == batch.inner, "the inner extents of A and B differ: " + both);
    expect(batch.inner <= attend_limit, "the inner extent is larger than 65536: " + both);
    batch.shared = b.rank() == 2 || b.count(0, b.rank() - 2) == 1;
    for (int axis = 0; axis < b.rank() - 2 && !batch.shared; ++axis) expect(a[axis] == b[axis], "the batches of A and B differ: " + both);
    batch.count = batch.shared ? 1 : a.count(0, a.rank() - 2);
    batch.rows = a.rank() == 1 ? 1 : batch.shared ? a.count(0, a.rank() - 1) : a[-2];
    std::vector<int64_t> extents(a.extents().begin(), a.extents().end() - 1);
    extents.push_back(batch.columns);
    batch.shape = Shape(std::move(extents));
    return batch;
  }
  Tensor weights_of(Call& call) const {
    if (packed_) {
      Tensor shape;
      shape.type = packed_->shift() > 0 ? uint8 : int8;
      shape.shape = {packed_->inputs(), packed_->outputs()};
      return shape;
    }
    const Tensor b = call.input(1);
    expect(bool(b), "input B is missing");
    expect(is_8_bits(b.type), std::string("input B is of ") + name_of(b.type) + ", expected int8 or uint8");
    return b;
  }
  template <class Use>
  void with_weights(const Tensor& b, int64_t index, const Use& use) const {
    if (packed_) return use(*packed_);
    const PackedIntegers packed(b, b.as<uint8_t>() + index * b.shape[-1] * b.shape[-2]);
    use(packed);
  }

  std::optional<PackedIntegers> packed_;
};

class MatMulInteger : public IntegerMatMul {
 public:
  void compute(Call& call) const override {
    const Tensor a = call.input(0), b = weights_of(call), a_zero = call.input(2), b_zero = call.input(3);
    expect(is_8_bits(a.type), std::string("input A is of ") + name_of(a.type) + ", expected int8 or uint8");
    const Batch batch = batch_of(a.shape, b.shape);
    int32_t* const to = call.output<int32_t>(0, batch.shape);
    if (to == nullptr || batch.shape.count() == 0) return;
    WorkMemory memory;
    const int8_t* const left = signed_numbers(a, memory);
    const int shift = a.type == uint8 ? 128 : 0;
    const std::vector<int32_t> left_zero = zero_points(a_zero, shift, batch.rows * batch.count, "a_zero_point");
    for (int64_t i = 0; i < batch.count; ++i) {
      with_weights(b, i, [&](const PackedIntegers& weights) {
        const std::vector<int32_t> right_zero = zero_points(b_zero, weights.shift(), batch.columns, "b_zero_point");
        const auto first = left_zero.begin() + (left_zero.size() > 1 ? i * batch.rows : 0);
        const std::vector<int32_t> of_matrix(first, first + (left_zero.size() > 1 ? batch.rows : 1));
        multiply({left + i * batch.rows * batch.inner, narrow(batch.rows), weights, of_matrix, right_zero, to + i * batch.rows * batch.columns}, call);
      });
    }
  }
};

class ToFloat : public IntegerMatMul {
 public:
  explicit ToFloat(bool quantises) : quantises_(quantises) {}

  void compute(Call& call) const override {
    const Tensor a = call.input(0), b = weights_of(call);
    expect(quantises_ ? a.type == float32 : is_8_bits(a.type), std::string("input A is of ") + name_of(a.type) + (quantises_ ? ", expected float32" : ", expected int8 or uint8"));
    const Tensor b_scale = call.required(quantises_ ? 2 : 3, "b_scale");
    const Tensor b_zero = call.input(quantises_ ? 3 : 5), bias = call.optional(quantises_ ? 4 : 6, "bias");
    const Batch batch = batch_of(a.shape, b.shape);
    expect(b_scale.shape.count() == 1 || b_scale.shape.count() == batch.columns, "b_scale is " + b_scale.shape.text() + ", expected one number or " + std::to_string(batch.columns));
    if (bias) expect(bias.shape.rank() == 1 && bias.shape[0] == batch.columns, "bias is " + bias.shape.text() + ", expected " + std::to_string(batch.columns) + " numbers");
    WorkMemory numbers, scales, sums;
    const int64_t rows = batch.rows * batch.count;
    std::vector<int32_t> left_zero;
    float* const row_scales = scales.numbers<float>(rows);
    const int8_t* left = nullptr;
    if (quantises_) {
      left = quantise_rows(a, rows, batch.inner, numbers, row_scales, left_zero, call);
    } else {
      const Tensor a_scale = call.required(2, "a_scale");
      expect(a_scale.shape.count() == 1, "a_scale is " + a_scale.shape.text() + ", expected one number");
      for (int64_t row = 0; row < rows; ++row) row_scales[row] = a_scale.floats()[0];
      left_zero = zero_points(call.input(4), a.type == uint8 ? 128 : 0, 1, "a_zero_point");
      left = signed_numbers(a, numbers);
    }
    float* const to = call.output(0, batch.shape);
    if (to == nullptr || batch.shape.count() == 0) return;
    int32_t* const whole = sums.numbers<int32_t>(batch.shape.count());
    for (int64_t i = 0; i < batch.count; ++i) {
      with_weights(b, i, [&](const PackedIntegers& weights) {
        const std::vector<int32_t> right_zero = zero_points(b_zero, weights.shift(), batch.columns, "b_zero_point");
        const auto first = left_zero.begin() + (left_zero.size() > 1 ? i * batch.rows : 0);
        const std::vector<int32_t> of_matrix(first, first + (left_zero.size() > 1 ? batch.rows : 1));
        multiply({left + i * batch.rows * batch.inner, narrow(batch.rows), weights, of_matrix, right_zero, whole + i * batch.rows * batch.columns}, call);
      });
    }
    const int64_t step = b_scale.shape.count() == 1 ? 0 : 1, columns = batch.columns;
    for_pieces(call, rows, double(columns), [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        for (int64_t n = 0; n < columns; ++n) {
          const float product = float(whole[row * columns + n]) * (row_scales[row] * b_scale.floats()[n * step]);
          to[row * columns + n] = bias ? product + bias.floats()[n] : product;
        }
      }
    });
  }

 private:
  // Each row by a scale and a zero point of its own: neighbours in a batch, and padding, change no bit.
  static const int8_t* quantise_rows(const Tensor& a, int64_t rows, int64_t width, WorkMemory& memory, float* scales, std::vector<int32_t>& zeros, const Call& call) {
    uint8_t* const to = memory.numbers<uint8_t>(times(rows, width));
    zeros.resize(std::size_t(rows < 1 ? 1 : rows));
    for_pieces(call, rows, 3 * double(width), [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        const float* const x = a.floats() + row * width;
        float least = 0, most = 0;
        range_of(x, width, least, most);
        const Quantised by = quantisation_of(least, most);
        scales[row] = by.scale;
        zeros[std::size_t(row)] = int32_t(by.zero) - 128;
        quantise(x, width, by, to + row * width);
        for (int64_t i = 0; i < width; ++i) to[row * width + i] ^= 0x80;
      }
    });
    return reinterpret_cast<int8_t*>(to);
  }

  bool quantises_;
};

std::unique_ptr<Operator> make_quantise(const Attributes&) { return std::make_unique<DynamicQuantizeLinear>(); }
std::unique_ptr<Operator> make_integer(const Attributes&) { return std::make_unique<MatMulInteger>(); }
std::unique_ptr<Operator> make_dynamic(const Attributes&) { return std::make_unique<ToFloat>(true); }
std::unique_ptr<Operator> make_to_float(const Attributes&) { return std::make_unique<ToFloat>(false); }

}  // namespace

std::unique_ptr<Operator> make_dynamic_product() { return std::make_unique<ToFloat>(true); }

const Definition& dynamic_quantize_linear() {
  static const Definition definition = {"DynamicQuantizeLinear", {{"", 11, latest, {{"T2", {uint8}}}}}, make_quantise};
  return definition;
}
const Definition& matmul_integer() {
  static const Definition definition = {"MatMulInteger", {{"", 10, latest, {{"T1", {int8, uint8}}, {"T2", {int8, uint8}}, {"T3", {int32}}}}}, make_integer};
  return definition;
}
const Definition& dynamic_quantize_matmul() {
  static const Definition definition = {"DynamicQuantizeMatMul", {{"com.microsoft", 1, latest, {{"T1", {float32}}, {"T2", {int8, uint8}}}}}, make_dynamic};
  return definition;
}
const Definition& matmul_integer_to_float() {
  static const Definition definition = {"MatMulIntegerToFloat", {{"com.microsoft", 1, latest, {{"T1", {int8, uint8}}, {"T2", {int8, uint8}}, {"T3", {float32}}}}}, make_to_float};
  return definition;
}

}  // namespace attend_adapter::onnx
