// Operators of several nodes.
#include <attend/layers/core_layer.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "attention.h"
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

class ChainAttention : public Operator {
 public:
  explicit ChainAttention(const ChainLayout& layout) : layout_(layout) {}

  void compute(Call& call) const override {
    const Tensor mask = call.optional(3, "mask");
    AttentionCall attention;
    attention.query = heads(call.required(0, "query"), layout_.query_tokens_first, "query");
    attention.key = heads(call.required(1, "key"), layout_.key_tokens_first, "key");
    attention.value = heads(call.required(2, "value"), layout_.value_tokens_first, "value");
    Heads &q = attention.query, &k = attention.key, &v = attention.value;
    expect(q.width == k.width,
           "the inner extents of queries and keys differ: " + std::to_string(q.width) + " and " + std::to_string(k.width));
    // MatMul and Add broadcast what has one element on an axis; so does a stride of 0.
    const auto of_mask = [&](int axis) { return mask && mask.shape.rank() >= axis ? mask.shape[-axis] : 1; };
    expect(!mask || mask.shape.rank() <= 4, "the mask is " + mask.shape.text() + ", expected at most 4 axes");
    const int64_t batch = common({q.batch, k.batch, of_mask(4), v.batch}, "batch rows"),
                  heads = common({q.heads, k.heads, of_mask(3), v.heads}, "heads");
    const int64_t queries = common({q.tokens, of_mask(2)}, "queries"), keys = common({k.tokens, of_mask(1)}, "keys");
    expect(v.tokens == keys,
           "the inner extents of weights and values differ: " + std::to_string(keys) + " and " + std::to_string(v.tokens));
    for (Heads* const each : {&q, &k, &v}) {
      if (each->batch == 1) each->batch_stride = 0;
      if (each->heads == 1) each->head_stride = 0;
      each->batch = batch;
      each->heads = heads;
    }
    if (q.tokens == 1) q.token_stride = 0;
    if (k.tokens == 1) k.token_stride = 0;
    q.tokens = queries;
    k.tokens = keys;
    WorkMemory expanded;
    attention.bias = mask_of(whole_mask(mask, keys, expanded), batch, heads, queries, keys, "mask");
    attention.scale = layout_.scale;
    const bool flat = layout_.output_tokens_first;
    float* const to = call.output(0, flat ? Shape{batch, queries, heads, v.width} : Shape{batch, heads, queries, v.width});
    if (to == nullptr) return;
    attention.output =
        flat ? tokens_first(to, batch, queries, heads, v.width) : heads_first(to, batch, heads, queries, v.width);
    attend_to(attention, call);
  }

 private:
  static Heads heads(const Tensor& tensor, bool tokens_come_first, const char* name) {
    const Shape& shape = tensor.shape;
    expect(shape.rank() == 4, std::string(name) + " is " + shape.text() + ", expected 4 axes");
    return tokens_come_first ? tokens_first(tensor.floats(), shape[0], shape[1], shape[2], shape[3])
                             : heads_first(tensor.floats(), shape[0], shape[1], shape[2], shape[3]);
  }
  static int64_t common(std::initializer_list<int64_t> extents, const char* what) {
    int64_t all = 1;
    for (const int64_t extent : extents) {
      expect(extent == 1 || all == 1 || extent == all,
             std::string("the numbers of ") + what + " differ: " + std::to_string(extent) + " and " + std::to_string(all));
      if (extent != 1) all = extent;
    }
    return all;
  }
  // A mask with a column for each key.
  static Tensor whole_mask(const Tensor& mask, int64_t keys, WorkMemory& memory) {
    if (!mask || (mask.shape.rank() >= 1 && mask.shape[-1] == keys)) return mask;
    const int64_t rows = mask.shape.count();
    float* const to = memory.numbers<float>(times(rows, keys));
    for (int64_t i = 0; i < rows * keys; ++i) to[i] = mask.floats()[i / keys];
    Tensor whole = mask;
    whole.data = to;
    std::vector<int64_t> extents = mask.shape.extents();
    if (extents.empty()) extents.push_back(1);
    extents.back() = keys;
    whole.shape = Shape(std::move(extents));
    return whole;
  }

  ChainLayout layout_;
};

}  // namespace

std::unique_ptr<Operator> make_projection(bool gelu) { return std::make_unique<Projection>(gelu); }
std::unique_ptr<Operator> make_sum_norm(float epsilon) { return std::make_unique<SumNorm>(epsilon); }
std::unique_ptr<Operator> make_chain_attention(const ChainLayout& layout) { return std::make_unique<ChainAttention>(layout); }

}  // namespace attend_adapter::onnx
