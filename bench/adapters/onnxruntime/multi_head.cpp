// MultiHeadAttention of ONNX Runtime.
#include "multi_head.h"

#include <attend/layers/core_layer.h>

#include <cstring>

#include "operators.h"
#include "rows.h"

namespace attend_adapter::onnx {

void expect_masking(const Attributes& attributes) {
  constexpr float hides = -10000;
  const float added = attributes.number("mask_filter_value", hides);
  if (!(added <= hides)) Attributes::refuse_value("mask_filter_value", std::to_string(added), "at most -10000");
}

void mask_numbers(AttentionCall& attention, const Tensor& mask, int64_t past, WorkMemory& memory) {
  const int64_t batch = attention.query.batch, queries = attention.query.tokens, keys = attention.key.tokens;
  const Shape& shape = mask.shape;
  const int32_t* const numbers = mask.as<int32_t>();
  const std::string said = "the mask is " + shape.text();
  if (shape.rank() == 1) {
    expect(shape[0] == batch || shape[0] == 2 * batch, said + ", expected a number or two for each batch row");
    bool begins_later = false;
    for (int64_t row = 0; row < shape[0]; ++row) {
      expect(numbers[row] >= 0 && numbers[row] <= keys,
             said + " and has " + std::to_string(numbers[row]) + ", expected 0 to " + std::to_string(keys));
      if (row < batch) attention.lengths.push_back(numbers[row]);
      begins_later = begins_later || (row >= batch && numbers[row] > 0);
    }
    if (!begins_later) return;
    uint8_t* const seen = memory.numbers<uint8_t>(times(batch, keys));
    for (int64_t i = 0; i < batch * keys; ++i) seen[i] = i % keys >= numbers[batch + i / keys];
    attention.mask.tensor = {seen, boolean, {batch, 1, 1, keys}};
    attention.mask = mask_of(attention.mask.tensor, batch, attention.query.heads, queries, keys, "mask");
    return;
  }
  expect(shape.rank() <= 4 && shape[0] == batch, said + ", expected " + std::to_string(batch) + " batch rows");
  if (shape.rank() == 4)
    expect(shape[1] == 1 && shape[2] == shape[3] && shape[3] >= keys && shape[2] >= past + queries,
           said + ", expected [batch, 1, most tokens, most tokens]");
  if (shape.rank() == 3)
    expect(shape[1] == queries && shape[2] == keys, said + ", expected " + Shape{batch, queries, keys}.text());
  if (shape.rank() == 2) expect(shape[1] == keys, said + ", expected " + Shape{batch, keys}.text());
  const int64_t rows = shape.rank() == 2 ? 1 : queries, columns = shape[-1];
  const int64_t row_stride = shape.rank() == 4 ? shape[2] * columns : rows * columns;
  uint8_t* const seen = memory.numbers<uint8_t>(times(times(batch, rows), keys));
  for (int64_t row = 0; row < batch; ++row) {
    for (int64_t query = 0; query < rows; ++query) {
      const int32_t* const from = numbers + row * row_stride + (query + (shape.rank() == 4 ? past : 0)) * columns;
      for (int64_t key = 0; key < keys; ++key) seen[(row * rows + query) * keys + key] = from[key] != 0;
    }
  }
  attention.mask = mask_of({seen, boolean, {batch, 1, rows, keys}}, batch, attention.query.heads, queries, keys, "mask");
}

Heads with_bias(const Heads& from, const float* bias, WorkMemory& memory, const Call& call) {
  const Heads to = tokens_first(memory.numbers<float>(times(times(from.batch, from.tokens), times(from.heads, from.width))),
                                from.batch, from.tokens, from.heads, from.width);
  for_pieces(call, from.batch * from.tokens, double(from.heads * from.width), [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      for (int64_t head = 0; head < from.heads; ++head) {
        float* const target = const_cast<float*>(to.at(i / from.tokens, i % from.tokens, head));
        std::memcpy(target, from.at(i / from.tokens, i % from.tokens, head), std::size_t(from.width) * sizeof(float));
        attend::core::add(bias + head * from.width, 1, int(from.width), target);
      }
    }
  });
  return to;
}

namespace {

class MultiHeadAttention : public Operator {
 public:
  explicit MultiHeadAttention(const Attributes& attributes)
      : heads_(attributes.integer("num_heads", 0)),
        causal_(attributes.flag("unidirectional")),
        scale_(attributes.number("scale", 0)) {
    expect_masking(attributes);
    expect(heads_ >= 1 && heads_ <= ATTEND_MAX_WIDTH,
           "attribute num_heads is " + std::to_string(heads_) + ", expected 1 to 65536");
  }

  void compute(Call& call) const override {
    const Tensor query = call.required(0, "query"), key = call.optional(1, "key"), value = call.optional(2, "value");
    const Tensor bias = call.optional(3, "bias"), numbers = call.optional(4, "key_padding_mask", int32),
                 added = call.optional(5, "attention_bias");
    const Tensor past_key = call.optional(6, "past_key"), past_value = call.optional(7, "past_value");
    AttentionCall attention;
    Heads keys, values;
    split(query, key, value, attention.query, keys, values);
    const Heads& q = attention.query;
    expect(keys.batch == q.batch && values.batch == q.batch && keys.tokens == values.tokens && keys.width == q.width &&
               keys.heads == values.heads,
           "query, key and value do not belong together: " + query.shape.text() + ", " + key.shape.text() + ", " +
               value.shape.text());
    WorkMemory of_query, of_key, of_value, present_keys, present_values, masks, result;
    if (bias) {
      const int64_t width = heads_ * (2 * q.width + values.width);
      expect(bias.shape.rank() == 1 && bias.shape[0] == width,
             "bias is " + bias.shape.text() + ", expected " + std::to_string(width) + " numbers");
      attention.query = with_bias(q, bias.floats(), of_query, call);
      if (key.shape.rank() != 4) {  // those that lie by heads have theirs already
        keys = with_bias(keys, bias.floats() + heads_ * q.width, of_key, call);
        values = with_bias(values, bias.floats() + 2 * heads_ * q.width, of_value, call);
      }
    }
    expect(bool(past_key) == bool(past_value), "past_key and past_value must be given together");
    Heads old_keys, old_values;
    if (past_key) {
      expect(past_key.shape.rank() == 4 && past_value.shape.rank() == 4, "past_key and past_value must have 4 axes");
      old_keys = heads_of(past_key, heads_, "past_key");
      old_values = heads_of(past_value, heads_, "past_value");
      expect(
          old_keys.batch == q.batch && old_values.batch == q.batch && old_keys.width == q.width &&
              old_values.width == values.width && old_keys.tokens == old_values.tokens,
          "past_key and past_value do not belong to key and value: " + past_key.shape.text() + ", " + past_value.shape.text());
    }
    const int64_t past = old_keys.tokens, total = past + keys.tokens;
    const Shape shape{q.batch, q.tokens, times(heads_, values.width)};
    float* const to = call.output(0, shape);
    float* const present_key = call.output(1, {q.batch, heads_, total, q.width});
    float* const present_value = call.output(2, {q.batch, heads_, total, values.width});
    attention.key = present_of(old_keys, keys, present_key, present_keys, call);
    attention.value = present_of(old_values, values, present_value, present_values, call);
    if (numbers) mask_numbers(attention, numbers, past, masks);
    attention.bias = mask_of(added, q.batch, heads_, q.tokens, total, "attention_bias");
    attention.offset = past;
    attention.causal = causal_;
    if (scale_ != 0) attention.scale = scale_;
    attention.output =
        tokens_first(to != nullptr ? to : result.numbers<float>(shape.count()), q.batch, q.tokens, heads_, values.width);
    attend_to(attention, call);
  }

 private:
  // Queries, keys and values, each in a tensor of its own or several in one.
  void split(const Tensor& query, const Tensor& key, const Tensor& value, Heads& q, Heads& k, Heads& v) const {
    if (!key) {
      expect(query.shape.rank() == 5 && query.shape[2] == heads_ && query.shape[3] == 3,
             "query without key is " + query.shape.text() + ", expected [batch, tokens, heads, 3, width]");
      expect(!value, "value must not be given where query holds all three");
      q = part_of(query, 0, 3);
      k = part_of(query, 1, 3);
      v = part_of(query, 2, 3);
      return;
    }
    expect(query.shape.rank() == 3, "query is " + query.shape.text() + ", expected 3 axes");
    q = heads_of(query, heads_, "query");
    if (key.shape.rank() == 5) {
      expect(key.shape[2] == heads_ && key.shape[3] == 2,
             "key is " + key.shape.text() + ", expected [batch, tokens, heads, 2, width]");
      expect(!value, "value must not be given where key holds both");
      k = part_of(key, 0, 2);
      v = part_of(key, 1, 2);
      return;
    }
    expect(bool(value), "input value is missing");
    k = heads_of(key, heads_, "key");
    v = heads_of(value, heads_, "value");
  }

  Heads part_of(const Tensor& tensor, int64_t part, int64_t parts) const {
    const Shape& shape = tensor.shape;
    Heads heads = tokens_first(tensor.floats(), shape[0], shape[1], heads_, times(parts, shape[4]));
    heads.width = shape[4];
    heads.data += part * shape[4];
    return heads;
  }

  int64_t heads_;
  bool causal_;
  float scale_;
};

std::unique_ptr<Operator> make_multi_head(const Attributes& attributes) {
  return std::make_unique<MultiHeadAttention>(attributes);
}

}  // namespace

const Definition operators::multi_head_attention = {
    "MultiHeadAttention",
    {{"com.microsoft", 1, 1, {{"T", {float32}}, {"M", {int32}}}, 8, 3}},
    make_multi_head,
    {{float32, float32, float32, float32, int32, float32, float32, float32}, 1, {float32, float32, float32}, 1, true}};

}  // namespace attend_adapter::onnx
