// Attention of ONNX, opset 23 and later.
#include <cmath>

#include "attention.h"
#include "operators.h"

namespace attend_adapter::onnx {
namespace {

class Attention : public Operator {
 public:
  explicit Attention(const Attributes& attributes)
      : query_heads_(attributes.integer("q_num_heads", 0)),
        kv_heads_(attributes.integer("kv_num_heads", 0)),
        causal_(attributes.flag("is_causal")),
        window_left_(attributes.integer("left_window_size", -1)),
        window_right_(attributes.integer("right_window_size", -1)),
        mode_(attributes.integer("qk_matmul_output_mode", 0)),
        scale_(attributes.number("scale", ATTEND_DEFAULT_SCALE)),
        soft_cap_(attributes.number("softcap", 0)) {
    expect(query_heads_ >= 0 && kv_heads_ >= 0, "attributes q_num_heads and kv_num_heads must not be below 0");
    expect(window_left_ >= -1 && window_right_ >= -1, "attributes left_window_size and right_window_size must not be below -1");
    // Softmax in another precision than float32 is left to others.
    const int64_t precision = attributes.integer("softmax_precision", float32);
    if (precision != float32 && precision != float16 && precision != bfloat16)
      Attributes::refuse_value("softmax_precision", std::to_string(precision), "1, 10 or 16");
    expect(mode_ >= 0 && mode_ <= 3, "attribute qk_matmul_output_mode is " + std::to_string(mode_) + ", expected 0 to 3");
  }

  void compute(Call& call) const override {
    const Tensor q = call.required(0, "Q"), k = call.required(1, "K"), v = call.required(2, "V");
    const Tensor past_k = call.optional(4, "past_key"), past_v = call.optional(5, "past_value");
    const Tensor nonpad = call.optional(6, "nonpad_kv_seqlen", int64);
    expect(q.shape.rank() == k.shape.rank() && q.shape.rank() == v.shape.rank(),
           "Q, K and V must have as many axes as each other");
    AttentionCall attention;
    attention.query = heads_of(q, query_heads_, "Q");
    const Heads key = heads_of(k, kv_heads_, "K"), value = heads_of(v, kv_heads_, "V");
    const Heads& query = attention.query;
    expect(key.batch == query.batch && value.batch == query.batch, "Q, K and V must have as many batch rows as each other");
    expect(key.width == query.width, "heads of Q and of K must be as wide as each other");
    expect(key.heads == value.heads && key.tokens == value.tokens, "K and V must have as many heads and tokens as each other");
    expect(bool(past_k) == bool(past_v), "past_key and past_value must be given together");
    Heads old_key, old_value;
    if (past_k) {
      expect(past_k.shape.rank() == 4 && past_v.shape.rank() == 4, "past_key and past_value must have 4 axes");
      old_key = heads_of(past_k, key.heads, "past_key");
      old_value = heads_of(past_v, value.heads, "past_value");
      expect(old_key.batch == key.batch && old_key.width == key.width,
             "past_key does not belong to K: it is " + past_k.shape.text());
      expect(old_value.batch == key.batch && old_value.width == value.width && old_value.tokens == old_key.tokens,
             "past_value does not belong to V and past_key: it is " + past_v.shape.text());
    }
    const int64_t past = old_key.tokens, total = past + key.tokens;
    const Mask mask = mask_of(call.input(3), query.batch, query.heads, query.tokens, total, "attn_mask", true);
    (mask.tensor.type == boolean ? attention.mask : attention.bias) = mask;
    attention.offset = past;
    if (nonpad) {
      expect(nonpad.shape.rank() == 1 && nonpad.shape[0] == query.batch,
             "nonpad_kv_seqlen must have a number for each batch row, it is " + nonpad.shape.text());
      for (int64_t row = 0; row < query.batch; ++row) {
        const int64_t length = nonpad.as<int64_t>()[row];
        expect(length >= 0 && length <= total,
               "nonpad_kv_seqlen has " + std::to_string(length) + ", expected 0 to " + std::to_string(total));
        attention.lengths.push_back(length);
      }
      attention.queries_last = !past_k;
    }
    attention.causal = causal_;
    attention.window_left = window_left_;
    attention.window_right = window_right_;
    attention.scale = scale_;
    attention.soft_cap = soft_cap_;

    const bool flat = q.shape.rank() == 3;
    const Shape shape = flat ? Shape{query.batch, query.tokens, times(query.heads, value.width)}
                             : Shape{query.batch, query.heads, query.tokens, value.width};
    float* const y = call.output(0, shape);
    float* const present_k = call.output(1, {query.batch, key.heads, total, key.width});
    float* const present_v = call.output(2, {query.batch, value.heads, total, value.width});
    const Shape score_shape{query.batch, query.heads, query.tokens, total};
    float* const scores = call.output(3, score_shape);
    WorkMemory keys, values, outputs;
    attention.key = present_of(old_key, key, present_k, keys, call);
    attention.value = present_of(old_value, value, present_v, values, call);
    float* const to = y != nullptr ? y : outputs.numbers<float>(shape.count());
    attention.output = flat ? tokens_first(to, query.batch, query.tokens, query.heads, value.width)
                            : heads_first(to, query.batch, query.heads, query.tokens, value.width);
    if (scores != nullptr && mode_ < 2) scores_of_all(attention, scores, call);
    if (scores != nullptr && mode_ >= 2) {
      attention.scores = scores;
      attention.score_keys = total;
      attention.stage = mode_ == 2 ? ATTEND_SCORES_BIASED : ATTEND_SCORES_WEIGHTS;
    }
    attend_to(attention, call);
  }

 private:
  // The scores of all keys, masked or not, which is what the first two modes show.
  void scores_of_all(const AttentionCall& attention, float* scores, const Call& call) const {
    AttentionCall all;
    all.query = attention.query;
    all.key = attention.key;
    all.value = attention.value;
    all.scale = scale_;
    all.soft_cap = soft_cap_;
    all.scores = scores;
    all.score_keys = attention.key.tokens;
    all.stage = mode_ == 0 ? ATTEND_SCORES_RAW : ATTEND_SCORES_CAPPED;
    WorkMemory memory;
    float* const unused =
        memory.numbers<float>(times(times(all.query.batch, all.query.tokens), times(all.query.heads, all.value.width)));
    all.output = tokens_first(unused, all.query.batch, all.query.tokens, all.query.heads, all.value.width);
    attend_to(all, call);
  }

  int64_t query_heads_, kv_heads_;
  bool causal_;
  int64_t window_left_, window_right_, mode_;
  float scale_, soft_cap_;
};

std::unique_ptr<Operator> make_onnx_attention(const Attributes& attributes) { return std::make_unique<Attention>(attributes); }

}  // namespace

const Definition operators::attention = {
    "Attention",
    {{"", 23, 25, {{"T1", {float32}}, {"T2", {float32}}, {"U", {float32, boolean}}}}},
    make_onnx_attention,
    {{float32, float32, float32, undefined, float32, float32, int64}, 3, {float32, float32, float32, float32}, 1, true}};

}  // namespace attend_adapter::onnx
