// Products in integers: DynamicQuantizeLinear and MatMulInteger of ONNX, and DynamicQuantizeMatMul and MatMulIntegerToFloat of
// ONNX Runtime.
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
    if (y != nullptr)
      for_pieces(call, count, 2, [&](int64_t first, int64_t end) { quantise(x.floats() + first, end - first, by, y + first); });
  }
};

// The operators that multiply by weights of 8 bits. They differ in where the factors of their sums come from.
class IntegerMatMul : public Operator {
 public:
  bool pack(int input, const Tensor& weights) override {
    if (input != 1 || (weights.type != int8 && weights.type != uint8) || weights.shape.rank() != 2 ||
        weights.shape.count() == 0)
      return false;
    if (weights.shape[0] > most_inputs) return false;
    packed_.emplace(weights, weights.as<uint8_t>());
    return true;
  }

 protected:
  static constexpr int64_t most_inputs = 65536;  // products that fit into 32 bits

  static bool is_8_bits(Type type) { return type == int8 || type == uint8; }

  // The products of a batch, which A and B are broadcast to.
  struct Batch {
    Shape shape;                      // of the output
    int64_t rows, inner, columns;     // of a product
    std::vector<int64_t> of_a, of_b;  // the matrix of each product
  };
  static Batch batch_of(const Shape& a, const Shape& b) {
    const std::string both = "A is " + a.text() + ", B is " + b.text();
    expect(a.rank() >= 1 && b.rank() >= 1, "A and B must have at least one axis");
    Batch batch{};
    batch.inner = a[-1];
    batch.columns = b.rank() == 1 ? 1 : b[-1];
    expect((b.rank() == 1 ? b[0] : b[-2]) == batch.inner, "the inner extents of A and B differ: " + both);
    expect(batch.inner <= most_inputs, "the inner extent is larger than 65536: " + both);
    const bool shared = b.rank() <= 2;  // then all rows of A are those of one product
    const int axes_of_a = a.rank() > 2 ? a.rank() - 2 : 0, axes_of_b = shared ? 0 : b.rank() - 2,
              axes = axes_of_a > axes_of_b ? axes_of_a : axes_of_b;
    std::vector<int64_t> extents(std::size_t(axes), 1), own_a(std::size_t(axes), 1), own_b(std::size_t(axes), 1);
    for (int axis = 1; axis <= axes; ++axis) {
      const auto at = std::size_t(axes - axis);
      own_a[at] = axis <= axes_of_a ? a[-2 - axis] : 1;
      own_b[at] = axis <= axes_of_b ? b[-2 - axis] : 1;
      expect(own_a[at] == own_b[at] || own_a[at] == 1 || own_b[at] == 1, "the batches of A and B cannot be broadcast: " + both);
      extents[at] = own_a[at] == 1 ? own_b[at] : own_a[at];
    }
    const Shape all(extents);
    batch.rows = a.rank() == 1 ? 1 : shared ? a.count(0, a.rank() - 1) : a[-2];
    const Broadcast to_a(Shape(own_a), all, "A"), to_b(Shape(own_b), all, "B");
    for (int64_t i = 0; i < (shared ? 1 : all.count()); ++i) {
      batch.of_a.push_back(shared ? 0 : to_a.at(i));
      batch.of_b.push_back(shared ? 0 : to_b.at(i));
    }
    if (a.rank() > 1) extents.push_back(a[-2]);
    if (b.rank() > 1) extents.push_back(batch.columns);
    batch.shape = Shape(std::move(extents));
    return batch;
  }

  // Products of all matrices, whose zero points are one, or one for each row, or column, of each matrix.
  void multiply_all(const Batch& batch, const int8_t* left, const std::vector<int32_t>& left_zero, const Tensor& b,
                    const Tensor& b_zero, int32_t* to, const Call& call) const {
    for (std::size_t i = 0; i < batch.of_a.size(); ++i) {
      with_weights(b, batch.of_b[i], [&](const PackedIntegers& weights) {
        const std::vector<int32_t> left_of = part_of(left_zero, batch.of_a[i], batch.rows, "a_zero_point");
        const std::vector<int32_t> right_of =
            part_of(zero_points(b_zero, weights.shift()), batch.of_b[i], batch.columns, "b_zero_point");
        multiply({left + batch.of_a[i] * batch.rows * batch.inner, narrow(batch.rows), weights, left_of, right_of,
                  to + int64_t(i) * batch.rows * batch.columns},
                 call);
      });
    }
  }
  static std::vector<int32_t> part_of(const std::vector<int32_t>& zeros, int64_t matrix, int64_t count, const char* name) {
    const auto size = int64_t(zeros.size());
    if (size == 1) return zeros;
    const int64_t first = size == count ? 0 : matrix * count;
    expect(first + count <= size, std::string(name) + " has " + std::to_string(size) +
                                      " numbers, expected one, or one for each of " + std::to_string(count));
    return std::vector<int32_t>(zeros.begin() + first, zeros.begin() + first + count);
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
    const PackedIntegers packed(b, b.as<uint8_t>() + (index > 0 ? index * b.shape[-1] * b.shape[-2] : 0));
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
    multiply_all(batch, left, zero_points(a_zero, shift), b, b_zero, to, call);
  }
};

class ToFloat : public IntegerMatMul {
 public:
  explicit ToFloat(bool quantises) : quantises_(quantises) {}

  void compute(Call& call) const override {
    const Tensor a = call.input(0), b = weights_of(call);
    expect(quantises_ ? a.type == float32 : is_8_bits(a.type),
           std::string("input A is of ") + name_of(a.type) + (quantises_ ? ", expected float32" : ", expected int8 or uint8"));
    const Tensor b_scale = call.required(quantises_ ? 2 : 3, "b_scale");
    const Tensor b_zero = call.input(quantises_ ? 3 : 5), bias = call.optional(quantises_ ? 4 : 6, "bias");
    const Batch batch = batch_of(a.shape, b.shape);
    expect(b_scale.shape.count() == 1 || b_scale.shape.count() == batch.columns,
           "b_scale is " + b_scale.shape.text() + ", expected one number or " + std::to_string(batch.columns));
    if (bias)
      expect(bias.shape.rank() == 1 && bias.shape[0] == batch.columns,
             "bias is " + bias.shape.text() + ", expected " + std::to_string(batch.columns) + " numbers");
    WorkMemory numbers, scales, sums;
    expect(b.shape.rank() <= 2, "B must have 2 axes, it is " + b.shape.text());
    const int64_t rows = batch.rows;
    std::vector<int32_t> left_zero;
    float* const row_scales = scales.numbers<float>(rows);
    const int8_t* left = nullptr;
    if (quantises_) {
      left = quantise_rows(a, rows, batch.inner, numbers, row_scales, left_zero, call);
    } else {
      const Tensor a_scale = call.required(2, "a_scale");
      expect(a_scale.shape.count() == 1, "a_scale is " + a_scale.shape.text() + ", expected one number");
      for (int64_t row = 0; row < rows; ++row) row_scales[row] = a_scale.floats()[0];
      left_zero = zero_points(call.input(4), a.type == uint8 ? 128 : 0);
      left = signed_numbers(a, numbers);
    }
    float* const to = call.output(0, batch.shape);
    if (to == nullptr || batch.shape.count() == 0) return;
    int32_t* const whole = sums.numbers<int32_t>(batch.shape.count());
    multiply_all(batch, left, left_zero, b, b_zero, whole, call);
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
  static const int8_t* quantise_rows(const Tensor& a, int64_t rows, int64_t width, WorkMemory& memory, float* scales,
                                     std::vector<int32_t>& zeros, const Call& call) {
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
  static const Definition definition = {
      "MatMulInteger", {{"", 10, latest, {{"T1", {int8, uint8}}, {"T2", {int8, uint8}}, {"T3", {int32}}}}}, make_integer};
  return definition;
}
const Definition& dynamic_quantize_matmul() {
  static const Definition definition = {
      "DynamicQuantizeMatMul", {{"com.microsoft", 1, latest, {{"T1", {float32}}, {"T2", {int8, uint8}}}}}, make_dynamic};
  return definition;
}
const Definition& matmul_integer_to_float() {
  static const Definition definition = {
      "MatMulIntegerToFloat",
      {{"com.microsoft", 1, latest, {{"T1", {int8, uint8}}, {"T2", {int8, uint8}}, {"T3", {float32}}}}},
      make_to_float};
  return definition;
}

}  // namespace attend_adapter::onnx
