// Products in integers that become floats: DynamicQuantizeMatMul and MatMulIntegerToFloat of ONNX Runtime, and chains of nodes
// that are the same.
#include <attend/layers/core_layer.h>

#include "fusion.h"
#include "integer_matmul.h"
#include "operators.h"

namespace attend_adapter::onnx {
namespace {

// Of one product, inputs A, B, b_scale, b_zero and bias of rows of floats, or A, B, a_scale, b_scale, a_zero, b_zero and bias;
// of several, A, and for each what comes behind it in the first.
class ToFloat : public IntegerMatMul {
 public:
  // gelu: of each product, whether its output passes through Gelu.
  ToFloat(bool quantises, std::vector<bool> gelu)
      : IntegerMatMul(int(gelu.size())), quantises_(quantises), gelu_(std::move(gelu)) {}

  void compute(Call& call) const override {
    const Tensor a = call.input(0);
    expect(quantises_ ? a.type == float32 : is_8_bits(a.type),
           std::string("input A is of ") + name_of(a.type) + (quantises_ ? ", expected float32" : ", expected int8 or uint8"));
    std::vector<std::optional<PackedIntegers>> own{std::size_t(products())};
    std::vector<IntegerProduct> all;
    IntegerRows left{};
    for (int i = 0; i < products(); ++i) {
      const Batch batch = add_product(a, i, own[std::size_t(i)], all, call);
      left.rows = narrow(batch.rows);
      left.inputs = narrow(batch.inner);
    }
    WorkMemory numbers, zeros, scales;
    left.zeros = left.quantised_zeros = zeros.numbers<int32_t>(left.rows);
    left.scales = left.quantised_scales = scales.numbers<float>(left.rows);
    if (quantises_) {
      left.floats = a.floats();
      left.numbers = left.quantised = numbers.numbers<int8_t>(times(left.rows, left.inputs));
    } else {
      const Tensor a_scale = call.required(2, "a_scale");
      expect(a_scale.shape.count() == 1, "a_scale is " + a_scale.shape.text() + ", expected one number");
      const std::vector<int32_t> each =
          part_of(zero_points(call.input(4), a.type == uint8 ? 128 : 0), 0, left.rows, "a_zero_point");
      for (int row = 0; row < left.rows; ++row) {
        left.quantised_scales[row] = a_scale.floats()[0];
        left.quantised_zeros[row] = each[each.size() > 1 ? std::size_t(row) : 0];
      }
      left.numbers = signed_numbers(a, numbers);
    }
    if (!all.empty()) multiply(left, all, call);
  }

 private:
  // Adds a product, if it has an output, and answers what is multiplied.
  Batch add_product(const Tensor& a, int index, std::optional<PackedIntegers>& own, std::vector<IntegerProduct>& all,
                    Call& call) const {
    const int first = 1 + inputs_of_product * index;
    const Tensor b = weights_of(call, index);
    const Tensor b_scale = call.required(quantises_ ? first + 1 : 3, "b_scale");
    const Tensor b_zero = call.input(quantises_ ? first + 2 : 5), bias = call.optional(quantises_ ? first + 3 : 6, "bias");
    const Batch batch = batch_of(a.shape, b.shape);
    expect(b_scale.shape.count() == 1 || b_scale.shape.count() == batch.columns,
           "b_scale is " + b_scale.shape.text() + ", expected one number or " + std::to_string(batch.columns));
    if (bias)
      expect(bias.shape.rank() == 1 && bias.shape[0] == batch.columns,
             "bias is " + bias.shape.text() + ", expected " + std::to_string(batch.columns) + " numbers");
    expect(b.shape.rank() <= 2, "B must have 2 axes, it is " + b.shape.text());
    float* const to = call.output(index, batch.shape);
    if (to == nullptr || batch.shape.count() == 0) return batch;
    const PackedIntegers& weights = packed_of(b, 0, own, index);
    IntegerProduct product{weights, {}, nullptr, to, b_scale.floats(), b_scale.shape.count() == 1, nullptr, nullptr};
    product.right_zero = part_of(zero_points(b_zero, weights.shift()), 0, batch.columns, "b_zero_point");
    if (bias) product.bias = bias.floats();
    if (gelu_[std::size_t(index)]) product.activation = attend::core::activate<attend::Activation::gelu>;
    all.push_back(std::move(product));
    return batch;
  }

  bool quantises_;
  std::vector<bool> gelu_;
};

std::unique_ptr<Operator> make_dynamic(const Attributes&) { return std::make_unique<ToFloat>(true, std::vector<bool>{false}); }
std::unique_ptr<Operator> make_to_float(const Attributes&) {
  return std::make_unique<ToFloat>(false, std::vector<bool>{false});
}

}  // namespace

std::unique_ptr<Operator> make_dynamic_products(std::vector<bool> gelu) {
  return std::make_unique<ToFloat>(true, std::move(gelu));
}

const Definition operators::dynamic_quantize_matmul = {
    "DynamicQuantizeMatMul", {{"com.microsoft", 1, 1, {{"T1", {float32}}, {"T2", {int8, uint8}}}, 5, 1}}, make_dynamic};
const Definition operators::matmul_integer_to_float = {
    "MatMulIntegerToFloat",
    {{"com.microsoft", 1, 1, {{"T1", {int8, uint8}}, {"T2", {int8, uint8}}, {"T3", {float32}}}, 7, 1}},
    make_to_float};

}  // namespace attend_adapter::onnx
