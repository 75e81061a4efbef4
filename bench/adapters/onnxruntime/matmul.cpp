// MatMul of ONNX, and FusedMatMul, which ONNX Runtime makes of it, a transposition and a factor.
#include <optional>

#include "operators.h"
#include "product.h"

namespace attend_adapter::onnx {
namespace {

// Where the matrices of a batch begin, by the axes of the product's batch.
std::vector<std::ptrdiff_t> offsets_of(const Shape& own, int64_t matrix, const Shape& batch) {
  std::vector<std::ptrdiff_t> offsets(std::size_t(batch.count()), 0);
  int64_t stride = matrix, inner = 1;
  for (int axis = 1; axis <= batch.rank(); ++axis) {
    const int64_t extent = axis <= own.rank() ? own[-axis] : 1;
    if (extent > 1) {
      for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] += std::ptrdiff_t(int64_t(i) / inner % extent * stride);
    }
    inner *= batch[-axis];
    stride *= extent;
  }
  return offsets;
}

class MatMul : public Operator {
 public:
  explicit MatMul(const Attributes& attributes)
      : transposed_{attributes.flag("transA"), attributes.flag("transB")},
        batch_behind_{attributes.flag("transBatchA"), attributes.flag("transBatchB")},
        alpha_(attributes.number("alpha", 1)) {}

  bool pack(int input, const Tensor& weights) override {
    return input == 1 && !batch_behind_[1] && pack_weights(weights, transposed_[1], packed_);
  }

  void compute(Call& call) const override {
    const Tensor a = call.required(0, "A");
    Tensor b;
    if (packed_) {
      b.shape = {packed_->inputs(), packed_->outputs()};
    } else {
      b = call.required(1, "B");
    }
    expect(a.shape.rank() >= 1 && b.shape.rank() >= 1,
           "A and B must have at least one axis, A is " + a.shape.text() + ", B is " + b.shape.text());
    const Operand left = operand_of(a, 0), right = operand_of(b, 1);
    const std::string both = "A is " + a.shape.text() + ", B is " + b.shape.text();
    expect(left.columns == right.rows, "the inner extents of A and B differ: " + both);
    const Shape batch = broadcast(left.batch, right.batch, both);
    Shape output = batch;
    std::vector<int64_t> extents = batch.extents();
    if (a.shape.rank() > 1) extents.push_back(left.rows);
    if (b.shape.rank() > 1) extents.push_back(right.columns);
    const Shape shape(extents);
    float* const to = call.output(0, shape);
    if (to == nullptr || shape.count() == 0) return;
    Product product{};
    product.left = left.matrices;
    product.right = right.matrices;
    product.left_offsets = offsets_of(left.batch, left.matrix, batch);
    product.right_offsets = offsets_of(right.batch, right.matrix, batch);
    product.rows = narrow(left.rows);
    product.inner = narrow(left.columns);
    product.columns = narrow(right.columns);
    product.packed = packed_ ? &*packed_ : nullptr;
    product.alpha = alpha_;
    product.align = !packed_;
    product.output = to;
    multiply(product, call);
  }

 private:
  struct Operand {
    Matrices matrices;
    int64_t rows, columns;
    int64_t matrix;  // from one matrix of the batch to the next
    Shape batch;
  };

  Operand operand_of(const Tensor& tensor, int which) const {
    Operand operand{};
    const Shape& shape = tensor.shape;
    const bool is_left = which == 0;
    operand.matrices.data = tensor.floats();
    if (shape.rank() == 1) {  // a row on the left, a column on the right
      operand.rows = is_left ? 1 : shape[0];
      operand.columns = is_left ? shape[0] : 1;
      operand.matrices.stride = is_left ? shape[0] : 1;
      operand.matrix = shape[0];
      return operand;
    }
    const bool packed = !is_left && packed_;
    const bool behind = !packed && batch_behind_[which] && shape.rank() > 2;
    const bool transposed = !packed && transposed_[which];
    // Lines lie side by side; those of a batch behind them are taken in turns from all matrices.
    std::vector<int64_t> batch(shape.extents().begin() + (behind ? 1 : 0), shape.extents().end() - (behind ? 1 : 2));
    operand.batch = Shape(std::move(batch));
    const int64_t lines = behind ? shape[0] : shape[-2], width = shape[-1];
    operand.matrices.stride = std::ptrdiff_t(behind ? times(width, operand.batch.count()) : width);
    operand.matrices.transposed = transposed;
    operand.matrix = behind ? width : times(lines, width);
    operand.rows = transposed ? width : lines;
    operand.columns = transposed ? lines : width;
    return operand;
  }

  static Shape broadcast(const Shape& a, const Shape& b, const std::string& both) {
    const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
    std::vector<int64_t> extents(std::size_t(rank), 1);
    for (int axis = 1; axis <= rank; ++axis) {
      const int64_t of_a = axis <= a.rank() ? a[-axis] : 1, of_b = axis <= b.rank() ? b[-axis] : 1;
      expect(of_a == of_b || of_a == 1 || of_b == 1, "the batches of A and B cannot be broadcast: " + both);
      extents[std::size_t(rank - axis)] = of_a == 1 ? of_b : of_a;
    }
    return Shape(std::move(extents));
  }

  bool transposed_[2], batch_behind_[2];
  float alpha_;
  std::optional<PackedWeights> packed_;
};

std::unique_ptr<Operator> make_matmul(const Attributes& attributes) { return std::make_unique<MatMul>(attributes); }

}  // namespace

const Definition operators::matmul = {
    "MatMul", {{"", 1, 13, {{"T", {float32}}}}}, make_matmul, {{float32, float32}, 2, {float32}, 1, false}};
const Definition operators::fused_matmul = {"FusedMatMul", {{"com.microsoft", 1, 1, {{"T", {float32}}}, 2, 1}}, make_matmul};

}  // namespace attend_adapter::onnx
