// Attention of ONNX Runtime, which has the weights of queries, keys and values: what its tools make of the nodes of an encoder.
#include <optional>

#include "multi_head.h"
#include "operators.h"
#include "product.h"

namespace attend_adapter::onnx {
namespace {

class PackedAttention : public Operator {
 public:
  explicit PackedAttention(const Attributes& attributes)
      : heads_(attributes.integer("num_heads", 0)),
        causal_(attributes.flag("unidirectional")),
        scale_(attributes.number("scale", 0)),
        sizes_(attributes.integers("qkv_hidden_sizes")) {
    expect_masking(attributes);
    // Rotary positions without tables, and buffers that past and present share, are left to others.
    attributes.only("do_rotary", 0);
    attributes.only("past_present_share_buffer", 0);
    attributes.integer("rotary_embedding_dim", 0);  // of rotary positions
    expect(heads_ >= 1 && heads_ <= ATTEND_MAX_WIDTH,
           "attribute num_heads is " + std::to_string(heads_) + ", expected 1 to 65536");
    expect(sizes_.empty() || (sizes_.size() == 3 && sizes_[0] > 0 && sizes_[0] == sizes_[1] && sizes_[2] > 0),
           "attribute qkv_hidden_sizes must have three numbers, of which the first two are the same");
  }

  bool pack(int input, const Tensor& weights) override { return input == 1 && pack_weights(weights, false, packed_); }

  void compute(Call& call) const override {
    const Tensor x = call.required(0, "input");
    const Tensor weights = packed_ ? Tensor{} : call.required(1, "weights");
    const Tensor bias = call.optional(2, "bias"), numbers = call.optional(3, "mask_index", int32),
                 past = call.optional(4, "past"), added = call.optional(5, "attention_bias");
    expect(x.shape.rank() == 3, "input is " + x.shape.text() + ", expected 3 axes");
    const Shape of_weights = packed_ ? Shape{packed_->inputs(), packed_->outputs()} : weights.shape;
    expect(of_weights.rank() == 2 && of_weights[0] == x.shape[2],
           "weights are " + of_weights.text() + ", expected " + std::to_string(x.shape[2]) + " rows");
    const int64_t all = of_weights[1], width = sizes_.empty() ? all / 3 : sizes_[0],
                  value_width = sizes_.empty() ? all / 3 : sizes_[2];
    expect(2 * width + value_width == all && width % heads_ == 0 && value_width % heads_ == 0,
           "weights are " + of_weights.text() + ", whose columns do not divide into queries, keys and values of " +
               std::to_string(heads_) + " heads");
    if (bias)
      expect(bias.shape.rank() == 1 && bias.shape[0] == all,
             "bias is " + bias.shape.text() + ", expected " + std::to_string(all) + " numbers");
    const int64_t batch = x.shape[0], tokens = x.shape[1], dim = width / heads_, value_dim = value_width / heads_;
    Heads old_keys, old_values;
    if (past) {
      expect(past.shape.rank() == 5 && past.shape[0] == 2 && past.shape[1] == batch && past.shape[2] == heads_ &&
                 past.shape[4] == dim && dim == value_dim,
             "past is " + past.shape.text() + ", expected [2, batch, heads, tokens, width]");
      old_keys = heads_first(past.floats(), batch, heads_, past.shape[3], dim);
      old_values = heads_first(past.floats() + past.shape.count(1, 5), batch, heads_, past.shape[3], dim);
    }
    const int64_t total = old_keys.tokens + tokens;
    float* const to = call.output(0, {batch, tokens, value_width});
    float* const present = dim == value_dim ? call.output(1, {2, batch, heads_, total, dim}) : nullptr;
    if (to == nullptr || batch == 0 || tokens == 0) return;

    WorkMemory projected, present_keys, present_values, masks;
    Product product{};
    product.left = {x.floats(), std::ptrdiff_t(x.shape[2]), false};
    product.right = {weights.floats(), std::ptrdiff_t(all), false};
    product.left_offsets = product.right_offsets = {0};
    product.rows = narrow(times(batch, tokens));
    product.inner = narrow(x.shape[2]);
    product.columns = narrow(all);
    product.packed = packed_ ? &*packed_ : nullptr;
    product.bias = bias ? bias.floats() : nullptr;
    product.alpha = 1;
    product.output = projected.numbers<float>(times(times(batch, tokens), all));
    multiply(product, call);

    const auto part_of = [&](int64_t first, int64_t of_head) {
      return Heads{product.output + first, batch, tokens, heads_, of_head, tokens * all, all, of_head};
    };
    AttentionCall attention;
    attention.query = part_of(0, dim);
    attention.key = present_of(old_keys, part_of(width, dim), present, present_keys, call);
    attention.value = present_of(old_values, part_of(2 * width, value_dim),
                                 present == nullptr ? nullptr : present + batch * heads_ * total * dim, present_values, call);
    if (numbers) mask_numbers(attention, numbers, old_keys.tokens, masks);
    attention.bias = mask_of(added, batch, heads_, tokens, total, "attention_bias");
    attention.offset = old_keys.tokens;
    attention.causal = causal_;
    if (scale_ != 0) attention.scale = scale_;
    attention.output = tokens_first(to, batch, tokens, heads_, value_dim);
    attend_to(attention, call);
  }

 private:
  int64_t heads_;
  bool causal_;
  float scale_;
  std::vector<int64_t> sizes_;
  std::optional<PackedWeights> packed_;
};

std::unique_ptr<Operator> make_packed_attention(const Attributes& attributes) {
  return std::make_unique<PackedAttention>(attributes);
}

}  // namespace

const Definition operators::packed_attention = {
    "Attention", {{"com.microsoft", 1, 1, {{"T", {float32}}, {"M", {int32}}}, 6, 2}}, make_packed_attention, {}};

}  // namespace attend_adapter::onnx
