// LinearAttention of ONNX and of ONNX Runtime, whose value heads may share keys and queries. States are arrays: past is read
// and present is written where they lie.
#include <attend/linear_attention/core_linear_attention.h>

#include "operators.h"

namespace attend_adapter::onnx {
namespace {

using attend::Decay;
using attend::core::LinearAttention;
using Run = void (*)(const LinearAttention& call, int part, int parts);
template <attend::LinearRule rule, Decay decay = Decay::per_head>
constexpr Run run_of = attend::core::run_linear_attention<rule, decay>;
using Rule = attend::LinearRule;
struct NamedRule {
  const char* name;
  Run by_head, by_key;  // the second one of rules with a decay
  bool has_beta;
};
constexpr NamedRule linear_rules[] = {
    {"linear", run_of<Rule::linear>, nullptr, false},
    {"gated", run_of<Rule::gated>, run_of<Rule::gated, Decay::per_key>, false},
    {"delta", run_of<Rule::delta>, nullptr, true},
    {"gated_delta", run_of<Rule::gated_delta>, run_of<Rule::gated_delta, Decay::per_key>, true}};

constexpr int64_t most_heads = 65536;

// [batch][tokens][heads * width]: what the heads of a batch row have.
struct PackedHeads {
  const float* data = nullptr;
  int64_t tokens = 0, width = 0, row = 0;  // row: of a token

  PackedHeads(const Tensor& tensor, const Tensor& like, int64_t heads, const char* name) {
    if (!tensor) return;
    expect(tensor.shape.rank() == 3 && tensor.shape[0] == like.shape[0] && tensor.shape[1] == like.shape[1] &&
               tensor.shape[2] % heads == 0 && tensor.shape[2] > 0,
           std::string(name) + " must be [batch, tokens, heads * width] with " + std::to_string(heads) + " heads, it is " +
               tensor.shape.text());
    data = tensor.floats(), tokens = tensor.shape[1], row = tensor.shape[2], width = row / heads;
  }
  // Of a batch row.
  attend::core::Tensor<const float> of(int64_t item) const {
    return {data + item * tokens * row, std::ptrdiff_t(row), std::ptrdiff_t(width)};
  }
};

class LinearAttentionNode : public Operator {
 public:
  explicit LinearAttentionNode(const Attributes& attributes)
      : heads_(attributes.integer("q_num_heads", 0)),
        value_heads_(attributes.integer("kv_num_heads", 0)),
        scale_(attributes.number("scale", 0)) {
    const std::string rule = attributes.text("update_rule", "gated_delta");
    for (const NamedRule& each : linear_rules) rule_ = rule == each.name ? &each : rule_;
    if (rule_ == nullptr) Attributes::refuse_value("update_rule", rule, "linear, gated, delta or gated_delta");
    expect(heads_ >= 1 && value_heads_ >= 1 && heads_ <= most_heads && value_heads_ <= most_heads &&
               (heads_ % value_heads_ == 0 || value_heads_ % heads_ == 0),
           "attributes q_num_heads and kv_num_heads are " + std::to_string(heads_) + " and " + std::to_string(value_heads_) +
               ", expected that one divides the other");
    attributes.integer("chunk_size", 64);  // how it is computed
    attributes.only("state_window", 0);    // states of earlier tokens are left to others
  }

  void compute(Call& call) const override {
    const Tensor q = call.required(0, "query"), k = call.required(1, "key"), v = call.required(2, "value");
    const Tensor past = call.optional(3, "past_state"), g = call.optional(4, "decay"), b = call.optional(5, "beta");
    const PackedHeads query(q, q, heads_, "query"), value(v, q, value_heads_, "value");
    const int64_t keys = k.shape.rank() == 3 && query.width > 0 ? k.shape[2] / query.width : 0;
    expect(keys >= 1 && value_heads_ % keys == 0, "the heads of key, " + k.shape.text() +
                                                      ", must be a divisor of kv_num_heads, which is " +
                                                      std::to_string(value_heads_));
    const PackedHeads key(k, q, keys, "key");
    expect(key.width == query.width, "the heads of key and query differ in width: " + k.shape.text() + ", " + q.shape.text());
    expect(bool(g) == (rule_->by_key != nullptr) && bool(b) == rule_->has_beta,
           std::string("update_rule ") + rule_->name + " takes " + (rule_->by_key != nullptr ? "" : "no ") + "decay and " +
               (rule_->has_beta ? "" : "no ") + "beta");
    const PackedHeads decay(g, q, value_heads_, "decay");
    const PackedHeads beta(b, q, b && b.shape.rank() == 3 && b.shape[2] == 1 ? 1 : value_heads_, "beta");
    const bool by_key = g && decay.width == query.width && query.width > 1;
    expect((!g || by_key || decay.width == 1) && (!b || beta.width == 1), "decay or beta have too many numbers for a head");
    const int64_t batch = q.shape[0], tokens = q.shape[1], matrix = times(query.width, value.width);
    const Shape states{batch, value_heads_, query.width, value.width};
    expect(!past || past.shape == states, "past_state must be " + states.text() + ", it is " + past.shape.text());

    const int64_t out_row = times(std::max(heads_, value_heads_), value.width), count = times(batch, value_heads_);
    expect(attend::core::is_linear_head(narrow(heads_), narrow(value_heads_), narrow(query.width), narrow(value.width)),
           "past_state is too large: " + states.text());
    float* const y = call.output(0, {batch, tokens, out_row});
    float* const present = call.output(1, states);
    const Parallel parallel = call.parallel(4.0 * double(count) * double(tokens + 1) * double(matrix));
    WorkMemory memory;
    float* const unseen = present == nullptr ? memory.numbers<float>(times(value_heads_, matrix)) : nullptr;
    LinearAttention linear{};
    linear.query_heads = narrow(heads_), linear.kv_heads = narrow(keys), linear.value_heads = narrow(value_heads_);
    linear.head_dim = narrow(query.width), linear.value_dim = narrow(value.width), linear.tokens = narrow(tokens);
    linear.scale = scale_ != 0 ? scale_ : attend::core::usual_scale(linear.head_dim);
    linear.is_plain = true;
    parallel.each(parallel.threads, [&](int part) {
      for (int64_t item = 0; item < batch; ++item) {
        LinearAttention own = linear;
        if (y != nullptr)
          own.query = query.of(item), own.output = {y + item * tokens * out_row, std::ptrdiff_t(out_row), own.value_dim};
        own.key = key.of(item), own.value = value.of(item);
        if (g) own.gates = decay.of(item);
        if (b) own.beta = beta.of(item);
        if (beta.row == 1) own.beta.head_stride = 0;
        own.from = past ? past.floats() + item * value_heads_ * matrix : nullptr;
        own.state = present != nullptr ? present + item * value_heads_ * matrix : unseen;
        (by_key ? rule_->by_key : rule_->by_head)(own, part, parallel.threads);
      }
    });
  }

 private:
  int64_t heads_, value_heads_;
  float scale_;
  const NamedRule* rule_ = nullptr;
};

std::unique_ptr<Operator> make_linear_attention(const Attributes& attributes) {
  return std::make_unique<LinearAttentionNode>(attributes);
}

}  // namespace

const Definition operators::linear_attention = {"LinearAttention",
                                                {{"", 27, 27, {{"T", {float32}}, {"S", {float32}}}, 6, 2},
                                                 {"com.microsoft", 1, 1, {{"T", {float32}}, {"S", {float32}}}, 6, 2}},
                                                make_linear_attention};

}  // namespace attend_adapter::onnx
