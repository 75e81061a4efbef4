// LinearAttention of ONNX and of ONNX Runtime, whose value heads may share keys and queries. Each value head of a batch row is
// a call of its own: its state stays in the cache while it is set, moved on, and read.
#include <attend/c/linear_attention.h>

#include "operators.h"

namespace attend_adapter::onnx {
namespace {

using LinearInit = attend_status (*)(attend_linear_attention*, size_t);
struct LinearRule {
  const char* name;
  LinearInit by_head, by_key;  // the second one of rules with a decay
  bool has_beta;
};
constexpr LinearRule linear_rules[] = {
    {"linear", attend_linear_rule_init, nullptr, false},
    {"gated", attend_gated_rule_init, attend_gated_by_key_rule_init, false},
    {"delta", attend_delta_rule_init, nullptr, true},
    {"gated_delta", attend_gated_delta_rule_init, attend_gated_delta_by_key_rule_init, true}};

void require_ok(attend_status status) {
  if (status != ATTEND_OK) refuse(std::string(attend_argument_name(status)) + ": " + attend_error_text(status));
}

// [batch][tokens][heads * width]: what one head of a batch row has.
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
  attend_input of(int64_t item, int64_t head) const {
    return {data + (item * tokens * row + head * width), 0, std::ptrdiff_t(row), std::ptrdiff_t(width)};
  }
};

class LinearAttention : public Operator {
 public:
  explicit LinearAttention(const Attributes& attributes)
      : heads_(attributes.integer("q_num_heads", 0)),
        value_heads_(attributes.integer("kv_num_heads", 0)),
        scale_(attributes.number("scale", 0)) {
    const std::string rule = attributes.text("update_rule", "gated_delta");
    for (const LinearRule& each : linear_rules) rule_ = rule == each.name ? &each : rule_;
    if (rule_ == nullptr) Attributes::refuse_value("update_rule", rule, "linear, gated, delta or gated_delta");
    expect(heads_ >= 1 && value_heads_ >= 1 && heads_ <= ATTEND_MAX_WIDTH && value_heads_ <= ATTEND_MAX_WIDTH &&
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

    const int64_t group = heads_ > value_heads_ ? heads_ / value_heads_ : 1;
    const int64_t out_row = times(times(group, value_heads_), value.width);
    float* const y = call.output(0, {batch, tokens, out_row});
    float* const present = call.output(1, states);
    attend_linear_attention linear;
    require_ok((by_key ? rule_->by_key : rule_->by_head)(&linear, sizeof linear));
    linear.query_heads = narrow(group), linear.kv_heads = linear.value_heads = 1;
    linear.head_dim = narrow(query.width), linear.value_dim = narrow(value.width), linear.tokens = narrow(tokens);
    if (scale_ != 0) linear.scale = scale_;
    const int64_t bytes = int64_t(attend_linear_state_size(&linear)), each = (bytes + 63) / 64 * 64;
    expect(bytes > 0, "past_state is too large: " + states.text());
    const int64_t count = times(batch, value_heads_);
    const Parallel parallel = call.parallel(4.0 * double(count) * double(tokens + 1) * double(matrix));
    WorkMemory memory;
    char* const room = memory.numbers<char>(times(each, parallel.threads));
    std::atomic<attend_status> failed{ATTEND_OK};
    parallel.each(parallel.threads, [&](int part) {
      attend_linear_attention own = linear;
      attend_linear_state* state = nullptr;
      attend_status status = attend_linear_state_init(&own, room + each * part, std::size_t(bytes), &state);
      for (int64_t i = count * part / parallel.threads; i < count * (part + 1) / parallel.threads && status == ATTEND_OK; ++i) {
        const int64_t item = i / value_heads_, head = i % value_heads_;
        own.query = query.of(item, head * heads_ / value_heads_);
        own.key = key.of(item, head * keys / value_heads_), own.value = value.of(item, head);
        if (g) own.log_decay = decay.of(item, head);
        if (b) own.beta = beta.of(item, beta.row == 1 ? 0 : head);
        status = past ? attend_linear_state_set_numbers(state, past.floats() + i * matrix) : attend_linear_state_clear(state);
        if (status == ATTEND_OK && y != nullptr) {
          own.output = {y + item * tokens * out_row + head * group * value.width, 0, std::ptrdiff_t(out_row),
                        std::ptrdiff_t(value.width)};
          status = attend_linear_run(&own, state);
        } else if (status == ATTEND_OK) {
          status = attend_linear_append(&own, state);
        }
        if (status == ATTEND_OK && present != nullptr) status = attend_linear_state_numbers(state, present + i * matrix);
      }
      if (status != ATTEND_OK) failed = status;
    });
    require_ok(failed);
  }

 private:
  int64_t heads_, value_heads_;
  float scale_;
  const LinearRule* rule_ = nullptr;
};

std::unique_ptr<Operator> make_linear_attention(const Attributes& attributes) {
  return std::make_unique<LinearAttention>(attributes);
}

}  // namespace

const Definition operators::linear_attention = {"LinearAttention",
                                                {{"", 27, 27, {{"T", {float32}}, {"S", {float32}}}, 6, 2},
                                                 {"com.microsoft", 1, 1, {{"T", {float32}}, {"S", {float32}}}, 6, 2}},
                                                make_linear_attention};

}  // namespace attend_adapter::onnx
