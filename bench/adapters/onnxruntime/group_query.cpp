// GroupQueryAttention of ONNX Runtime: the attention of decoders that its tools export, with rotary positions and a cache.
#include <cstring>

#include "operators.h"
#include "rotary.h"

namespace attend_adapter::onnx {
namespace {

class GroupQueryAttention : public Operator {
 public:
  explicit GroupQueryAttention(const Attributes& attributes)
      : heads_(attributes.integer("num_heads", 0)),
        kv_heads_(attributes.integer("kv_num_heads", 0)),
        window_(attributes.integer("local_window_size", -1)),
        rotary_(attributes.flag("do_rotary")),
        interleaved_(attributes.flag("rotary_interleaved")),
        smooth_(attributes.integer("smooth_softmax", 0) == 1),
        scale_(attributes.number("scale", 0)),
        soft_cap_(attributes.number("softcap", 0)) {
    expect(heads_ >= 1 && kv_heads_ >= 1 && heads_ <= ATTEND_MAX_WIDTH && heads_ % kv_heads_ == 0,
           "attributes num_heads and kv_num_heads are " + std::to_string(heads_) + " and " + std::to_string(kv_heads_) +
               ", expected that the second divides the first");
    expect(window_ == -1 || window_ >= 1,
           "attribute local_window_size is " + std::to_string(window_) + ", expected -1 or a number of keys");
    // Queries that see later ones, caches of a window or of other numbers than float32, and scores are left to others.
    attributes.only("causal", 1);
    attributes.only("sliding_window_cache", 0);
    attributes.only_text("k_quant_type", "NONE");
    attributes.only_text("v_quant_type", "NONE");
    attributes.only("qk_output", 0);
    attributes.only("kv_cache_bit_width", 0);
    attributes.number("qk_norm_epsilon", 1e-6f);  // of weights that are inputs, which are left to others
  }

  void compute(Call& call) const override {
    const Tensor query = call.required(0, "query"), key = call.optional(1, "key"), value = call.optional(2, "value");
    const Tensor past_key = call.optional(3, "past_key"), past_value = call.optional(4, "past_value");
    const Tensor lengths = call.required(5, "seqlens_k", int32),
                 total_length = call.required(6, "total_sequence_length", int32);
    const Tensor added = call.optional(10, "attention_bias"), sink = call.optional(11, "head_sink");
    AttentionCall attention;
    Heads keys, values;
    split(query, key, value, attention.query, keys, values);
    const Heads& q = attention.query;
    expect(total_length.shape.count() == 1, "total_sequence_length is " + total_length.shape.text() + ", expected one number");
    const int64_t total = total_length.as<int32_t>()[0];
    expect(total >= q.tokens,
           "total_sequence_length is " + std::to_string(total) + ", and there are " + std::to_string(q.tokens) + " new tokens");
    expect(lengths.shape.count() == q.batch, "seqlens_k is " + lengths.shape.text() + ", expected a number for each of " +
                                                 std::to_string(q.batch) + " batch rows");
    expect(bool(past_key) == bool(past_value), "past_key and past_value must be given together");
    Heads old_keys, old_values;
    if (past_key) {
      expect(past_key.shape.rank() == 4 && past_value.shape == past_key.shape,
             "past_key and past_value must have 4 axes and the same extents");
      old_keys = heads_of(past_key, kv_heads_, "past_key");
      old_values = heads_of(past_value, kv_heads_, "past_value");
      expect(old_keys.batch == q.batch && old_keys.width == q.width,
             "past_key does not belong to query: it is " + past_key.shape.text());
    }
    // Tokens that each row has already. In the first call rows may end before the last token, as padding on the right.
    const bool first_call = total == q.tokens;
    const int64_t room = old_keys.tokens > total ? old_keys.tokens : total;
    std::vector<int64_t> counts;
    for (int64_t row = 0; row < q.batch; ++row) {
      const int64_t length = int64_t(lengths.as<int32_t>()[row]) + 1, past = first_call ? 0 : length - q.tokens;
      expect(length >= 0 && length <= total && past >= 0 && past <= (past_key ? old_keys.tokens : 0),
             "seqlens_k has " + std::to_string(length - 1) + ", which does not agree with total_sequence_length " +
                 std::to_string(total) + ", " + std::to_string(q.tokens) + " new tokens and " +
                 std::to_string(old_keys.tokens) + " past ones");
      counts.push_back(past);
      attention.lengths.push_back(past + q.tokens);
    }
    if (sink)
      expect(sink.shape.rank() == 1 && sink.shape[0] == heads_,
             "head_sink is " + sink.shape.text() + ", expected a number for each head");
    attention.bias = mask_of(added, q.batch, heads_, q.tokens, total, "attention_bias");

    const Shape shape{q.batch, q.tokens, times(heads_, q.width)};
    const Shape present_shape{q.batch, kv_heads_, room, q.width};
    float* const to = call.output(0, shape);
    float* present_key = call.output(1, present_shape);
    float* present_value = call.output(2, present_shape);
    WorkMemory of_query, of_keys, of_values, of_sink, result;
    if (present_key == nullptr) present_key = of_keys.numbers<float>(present_shape.count());
    if (present_value == nullptr) present_value = of_values.numbers<float>(present_shape.count());
    attention.key = heads_first(present_key, q.batch, kv_heads_, room, q.width);
    attention.value = heads_first(present_value, q.batch, kv_heads_, room, q.width);
    if (present_shape.count() == 0 || shape.count() == 0) return;
    keep(old_keys, attention.key, counts, q.tokens);
    keep(old_values, attention.value, counts, q.tokens);
    copy_tokens(values, attention.value, counts, call);
    if (rotary_) {
      turn_both(attention, keys, counts, of_query, call);
    } else {
      copy_tokens(keys, attention.key, counts, call);
    }
    attention.causal = attention.queries_last = true;
    if (window_ > 0) attention.window_left = window_ - 1;  // it counts the query's own key
    if (scale_ != 0) attention.scale = scale_;
    attention.soft_cap = soft_cap_;
    attention.sink_logits = sink ? sink.floats() : nullptr;
    if (!sink && smooth_) {  // one more logit, of 0
      float* const zeros = of_sink.numbers<float>(heads_);
      std::memset(zeros, 0, std::size_t(heads_) * sizeof(float));
      attention.sink_logits = zeros;
    }
    attention.output =
        tokens_first(to != nullptr ? to : result.numbers<float>(shape.count()), q.batch, q.tokens, heads_, q.width);
    attend_to(attention, call);
  }

 private:
  // Queries, keys and values, each in a tensor of its own or all in one.
  void split(const Tensor& query, const Tensor& key, const Tensor& value, Heads& q, Heads& k, Heads& v) const {
    expect(bool(key) == bool(value), "key and value must be given together");
    if (key) {
      expect(query.shape.rank() == 3 && key.shape.rank() == 3 && value.shape.rank() == 3,
             "query, key and value must have 3 axes");
      q = heads_of(query, heads_, "query");
      k = heads_of(key, kv_heads_, "key");
      v = heads_of(value, kv_heads_, "value");
      expect(k.batch == q.batch && k.tokens == q.tokens && k.width == q.width && v.batch == q.batch && v.tokens == q.tokens &&
                 v.width == q.width,
             "query, key and value do not belong together: " + query.shape.text() + ", " + key.shape.text() + ", " +
                 value.shape.text());
      return;
    }
    expect(query.shape.rank() == 3, "query is " + query.shape.text() + ", expected 3 axes");
    const Heads all = heads_of(query, heads_ + 2 * kv_heads_, "query");
    q = k = v = all;
    q.heads = heads_;
    k.heads = v.heads = kv_heads_;
    k.data += heads_ * all.width;
    v.data += (heads_ + kv_heads_) * all.width;
  }

  // The past tokens of each row in the present array, and zeros behind the new ones.
  static void keep(const Heads& past, const Heads& present, const std::vector<int64_t>& counts, int64_t added) {
    if (past.data == present.data) return;  // they share a buffer
    const std::size_t bytes = std::size_t(present.width) * sizeof(float);
    for (int64_t row = 0; row < present.batch; ++row) {
      const int64_t count = counts[std::size_t(row)];
      for (int64_t head = 0; head < present.heads; ++head) {
        float* const to = const_cast<float*>(present.at(row, 0, head));
        if (count > 0) std::memcpy(to, past.at(row, 0, head), bytes * std::size_t(count));
        std::memset(to + (count + added) * present.width, 0, bytes * std::size_t(present.tokens - count - added));
      }
    }
  }

  // counts: the past tokens of each row.
  void turn_both(AttentionCall& attention, const Heads& keys, const std::vector<int64_t>& counts, WorkMemory& memory,
                 Call& call) const {
    const Heads from = attention.query;
    RotaryTables tables = rotary_tables(call.required(7, "cos_cache"), call.required(8, "sin_cache"), 2);
    tables.interleaved = interleaved_;
    expect(tables.pairs >= 1 && 2 * tables.pairs <= from.width,
           "cos_cache has " + std::to_string(tables.pairs) + " columns, and heads are " + std::to_string(from.width) + " wide");
    const Tensor positions = call.optional(9, "position_ids", int64);
    if (positions)
      expect(positions.shape.count() == from.batch * from.tokens,
             "position_ids is " + positions.shape.text() + ", expected " + Shape{from.batch, from.tokens}.text());
    const auto position_of = [&](int64_t row, int64_t token) {
      return positions ? positions.as<int64_t>()[row * from.tokens + token] : counts[std::size_t(row)] + token;
    };
    for (int64_t row = 0; row < from.batch; ++row) {
      for (int64_t token = 0; token < from.tokens; ++token) {
        const int64_t position = position_of(row, token);
        expect(position >= 0 && position < tables.rows, "a token has the position " + std::to_string(position) +
                                                            ", and cos_cache has " + std::to_string(tables.rows) + " rows");
      }
    }
    attention.query = tokens_first(memory.numbers<float>(times(times(from.batch, from.tokens), times(from.heads, from.width))),
                                   from.batch, from.tokens, from.heads, from.width);
    turn(from, attention.query, tables, call, position_of);
    Heads to = attention.key;
    for (int64_t row = 0; row < from.batch; ++row) {
      Heads of_row = keys;
      of_row.data = keys.at(row, 0, 0);
      of_row.batch = 1;
      to.data = attention.key.at(row, counts[std::size_t(row)], 0);
      turn(of_row, to, tables, call, [&](int64_t, int64_t token) { return position_of(row, token); });
    }
  }

  int64_t heads_, kv_heads_, window_;
  bool rotary_, interleaved_, smooth_;
  float scale_, soft_cap_;
};

std::unique_ptr<Operator> make_group_query(const Attributes& attributes) {
  return std::make_unique<GroupQueryAttention>(attributes);
}

}  // namespace

const Definition operators::group_query_attention = {
    "GroupQueryAttention",
    {{"com.microsoft", 1, 1, {{"T", {float32}}, {"T_CACHE", {float32}}, {"M", {int32}}}, 12, 3}},
    make_group_query,
    {{float32, undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined,
      undefined},
     1,
     {float32, float32, float32},
     1,
     true}};

}  // namespace attend_adapter::onnx
