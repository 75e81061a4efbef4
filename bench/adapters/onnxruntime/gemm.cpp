// Gemm of ONNX: Y = alpha * A * B + beta * C, which ONNX Runtime also makes of MatMul and Add.
#include <attend/layers/core_layer.h>

#include <optional>

#include "operators.h"
#include "product.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

class Gemm : public Operator {
 public:
  explicit Gemm(const Attributes& attributes)
      : transposed_{attributes.flag("transA"), attributes.flag("transB")},
        alpha_(attributes.number("alpha", 1)),
        beta_(attributes.number("beta", 1)) {}

  bool pack(int input, const Tensor& weights) override { return input == 1 && pack_weights(weights, transposed_[1], packed_); }

  void compute(Call& call) const override {
    const Tensor a = call.required(0, "A");
    const Tensor b = packed_ ? Tensor{} : call.required(1, "B");
    const Tensor c = call.optional(2, "C");
    expect(a.shape.rank() == 2, "A must have 2 axes, it is " + a.shape.text());
    expect(packed_ || b.shape.rank() == 2, "B must have 2 axes, it is " + b.shape.text());
    const int64_t rows = a.shape[transposed_[0] ? 1 : 0], inner = a.shape[transposed_[0] ? 0 : 1];
    const int64_t of_b = packed_ ? packed_->inputs() : b.shape[transposed_[1] ? 1 : 0];
    const int64_t columns = packed_ ? packed_->outputs() : b.shape[transposed_[1] ? 0 : 1];
    expect(inner == of_b, "the inner extents of A and B differ: " + std::to_string(inner) + " and " + std::to_string(of_b));
    const Shape shape{rows, columns};
    const Broadcast of_c(c ? c.shape : Shape{}, shape, "C");
    float* const to = call.output(0, shape);
    if (to == nullptr || shape.count() == 0) return;
    // A row that is added as it is joins each sum at its end, as Add after MatMul does.
    const bool is_row = c && alpha_ == 1 && beta_ == 1 && of_c.stride(0) == 0 && c.shape.count() == columns;
    Product product{};
    product.left = {a.floats(), std::ptrdiff_t(a.shape[1]), transposed_[0]};
    product.right = {b.floats(), packed_ ? 0 : std::ptrdiff_t(b.shape[1]), transposed_[1]};
    product.left_offsets = product.right_offsets = {0};
    product.rows = narrow(rows);
    product.inner = narrow(inner);
    product.columns = narrow(columns);
    product.packed = packed_ ? &*packed_ : nullptr;
    product.bias = is_row ? c.floats() : nullptr;
    product.alpha = alpha_;
    product.output = to;
    multiply(product, call);
    if (!c || is_row || beta_ == 0) return;
    for_pieces(call, rows, double(columns), [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        const float* const from = c.floats() + row * of_c.stride(0);
        if (of_c.stride(1) == 1) {
          attend::core::add(from, beta_, product.columns, to + row * columns);
        } else {
          for (int64_t column = 0; column < columns; ++column) attend::core::add(from, beta_, 1, to + row * columns + column);
        }
      }
    });
  }

 private:
  bool transposed_[2];
  float alpha_, beta_;
  std::optional<PackedWeights> packed_;
};

std::unique_ptr<Operator> make_gemm(const Attributes& attributes) { return std::make_unique<Gemm>(attributes); }

}  // namespace

const Definition operators::gemm = {"Gemm", {{"", 7, 13, {{"T", {float32}}}}}, make_gemm};

}  // namespace attend_adapter::onnx
