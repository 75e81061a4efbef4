// Operators of several nodes.
#include <attend/layers/core_layer.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "fusion.h"
#include "normalisation.h"
#include "product.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

class Projection : public Operator {
 public:
  explicit Projection(bool gelu) : gelu_(gelu) {}

  bool pack(int input, const Tensor& weights) override {
    if (input != 1) return false;
    expect(pack_weights(weights, false, packed_), "there is not enough memory");
    return true;
  }

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "A"), bias = call.required(2, "bias");
    expect(x.shape.rank() >= 1 && x.shape[-1] == packed_->inputs(), "the inner extents of A and B differ: A is " +
                                                                        x.shape.text() + ", B has " +
                                                                        std::to_string(packed_->inputs()) + " rows");
    Shape shape = x.shape;
    shape[-1] = packed_->outputs();
    float* const to = call.output(0, shape);
    if (to == nullptr || shape.count() == 0) return;
    Product product{};
    product.left = {x.floats(), std::ptrdiff_t(x.shape[-1]), false};
    product.left_offsets = product.right_offsets = {0};
    product.rows = narrow(x.shape.count(0, x.shape.rank() - 1));
    product.inner = packed_->inputs();
    product.columns = packed_->outputs();
    product.packed = &*packed_;
    product.bias = bias.floats();
    product.alpha = 1;
    product.output = to;
    if (gelu_) product.activation = attend::core::activate<attend::Activation::gelu>;
    multiply(product, call);
  }

 private:
  bool gelu_;
  std::optional<PackedWeights> packed_;
};

class SumNorm : public Operator {
 public:
  explicit SumNorm(float epsilon) : epsilon_(epsilon < smallest_epsilon ? smallest_epsilon : epsilon) {}

  void compute(Call& call) const override {
    const Tensor a = call.required(0, "A"), b = call.required(1, "B"), weight = call.required(2, "Scale"),
                 bias = call.optional(3, "bias");
    const int rank = a.shape.rank() > b.shape.rank() ? a.shape.rank() : b.shape.rank();
    std::vector<int64_t> extents(std::size_t(rank), 1);
    for (int axis = 1; axis <= rank; ++axis) {
      const int64_t of_a = axis <= a.shape.rank() ? a.shape[-axis] : 1, of_b = axis <= b.shape.rank() ? b.shape[-axis] : 1;
      extents[std::size_t(rank - axis)] = of_a == 1 ? of_b : of_a;
    }
    const Shape shape(extents);
    const Broadcast of_a(a.shape, shape, "A"), of_b(b.shape, shape, "B");
    const int64_t width = weight.shape.count();
    expect(rank >= 1 && shape[-1] == width, "Scale has " + std::to_string(width) + " numbers, and the sum is " + shape.text());
    float* const to = call.output(0, shape);
    float* const sums = call.output(1, shape);
    if (to == nullptr || shape.count() == 0) return;
    float* const sum_to = sums != nullptr ? sums : to;
    const bool same = a.shape == shape && b.shape == shape;
    const NormRows rows{sum_to,   to,  weight.floats(), bias ? bias.floats() : nullptr, shape.count() / width, narrow(width),
                        epsilon_, true};
    for_pieces(call, narrow(rows.rows), norm_cost * double(width), [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        float* const sum = sum_to + row * width;
        if (same) {
          for (int64_t i = 0; i < width; ++i) sum[i] = a.floats()[row * width + i] + b.floats()[row * width + i];
        } else {
          for (int64_t i = 0; i < width; ++i)
            sum[i] = a.floats()[of_a.at(row * width + i)] + b.floats()[of_b.at(row * width + i)];
        }
      }
      normalise(rows, first, end);
    });
  }

 private:
  float epsilon_;
};

}  // namespace

std::unique_ptr<Operator> make_projection(bool gelu) { return std::make_unique<Projection>(gelu); }
std::unique_ptr<Operator> make_sum_norm(float epsilon) { return std::make_unique<SumNorm>(epsilon); }

}  // namespace attend_adapter::onnx
