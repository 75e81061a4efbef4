// Numbers of 8 bits and exact sums of their products: DynamicQuantizeLinear and MatMulInteger of ONNX.
#include "bytes.h"
#include "integer_matmul.h"
#include "operators.h"

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
      for_pieces(call, count, 2,
                 [&](int64_t first, int64_t end) { quantise(x.floats() + first, end - first, by, 0, y + first); });
  }
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
    const std::vector<int32_t> left_zeros = zero_points(a_zero, a.type == uint8 ? 128 : 0);
    for (std::size_t i = 0; i < batch.of_a.size(); ++i) {
      std::optional<PackedIntegers> own;
      const PackedIntegers& weights = packed_of(b, batch.of_b[i], own);
      const std::vector<int32_t> zeros = each_of(part_of(left_zeros, batch.of_a[i], batch.rows, "a_zero_point"), batch.rows);
      IntegerRows rows{};
      rows.rows = narrow(batch.rows);
      rows.inputs = narrow(batch.inner);
      rows.numbers = left + batch.of_a[i] * batch.rows * batch.inner;
      rows.zeros = zeros.data();
      IntegerProduct product{weights, {}, nullptr, nullptr, nullptr, false, nullptr, nullptr};
      product.right_zero = part_of(zero_points(b_zero, weights.shift()), batch.of_b[i], batch.columns, "b_zero_point");
      product.sums = to + int64_t(i) * batch.rows * batch.columns;
      multiply(rows, {product}, call);
    }
  }
};

std::unique_ptr<Operator> make_quantise(const Attributes&) { return std::make_unique<DynamicQuantizeLinear>(); }
std::unique_ptr<Operator> make_integer(const Attributes&) { return std::make_unique<MatMulInteger>(); }

}  // namespace

const Definition operators::dynamic_quantize_linear = {
    "DynamicQuantizeLinear", {{"", 11, 11, {{"T2", {uint8}}}}}, make_quantise};
const Definition operators::matmul_integer = {
    "MatMulInteger", {{"", 10, 10, {{"T1", {int8, uint8}}, {"T2", {int8, uint8}}, {"T3", {int32}}}}}, make_integer};
}  // namespace attend_adapter::onnx
