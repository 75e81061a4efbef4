// Attention that is spelled out, as one operator.
#include <algorithm>
#include <cmath>

#include "attention.h"
#include "fusion.h"
#include "rows.h"

namespace attend_adapter::onnx {
namespace {

class ChainAttention : public Operator {
 public:
  explicit ChainAttention(const ChainLayout& layout) : layout_(layout) {}

  void compute(Call& call) const override {
    const Tensor mask = with_heads(call.optional(3, "mask"), "mask");
    const Tensor conditions[] = {with_heads(call.optional(4, "condition", boolean), "condition"),
                                 with_heads(call.optional(5, "condition", boolean), "condition")};
    AttentionCall attention;
    Heads &q = attention.query, &k = attention.key, &v = attention.value;
    q = heads(call.required(0, "query"), layout_.query, "query");
    k = heads(call.required(1, "key"), layout_.key, "key");
    v = heads(call.required(2, "value"), layout_.value, "value");
    expect(q.width == k.width,
           "the inner extents of queries and keys differ: " + std::to_string(q.width) + " and " + std::to_string(k.width));
    // MatMul, Add and Where broadcast what has one element on an axis; so does a stride of 0.
    const auto extent = [](const Tensor& of, int axis) { return of && of.shape.rank() >= axis ? of.shape[-axis] : 1; };
    const auto masked = [&](int axis, const char* what) {
      return common({extent(mask, axis), extent(conditions[0], axis), extent(conditions[1], axis)}, what);
    };
    const int64_t batch = common({q.batch, k.batch, masked(4, "batch rows"), v.batch}, "batch rows"),
                  heads = common({q.heads, k.heads, masked(3, "heads"), v.heads}, "heads"),
                  queries = common({q.tokens, masked(2, "queries")}, "queries"),
                  keys = common({k.tokens, masked(1, "keys")}, "keys");
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
    WorkMemory of_mask, of_condition;
    attention.bias = mask_of(whole_mask(mask, keys, of_mask), batch, heads, queries, keys, "mask");
    attention.mask = mask_of(shown(conditions, keys, of_condition, call), batch, heads, queries, keys, "condition");
    attention.scale = layout_.scale;
    attention.output = output(call, batch, heads, queries, v.width);
    if (attention.output.data == nullptr) return;
    attend_to(attention, call);
    if (conditions[0] && std::isfinite(layout_.filling)) fill_unseen(attention, call);
  }

 private:
  // [batch][tokens] are a head for each row.
  Heads heads(const Tensor& tensor, const std::vector<int64_t>& axes, const char* name) const {
    const Shape& shape = tensor.shape;
    expect(shape.rank() == int(axes.size()),
           std::string(name) + " is " + shape.text() + ", expected " + std::to_string(axes.size()) + " axes");
    const auto extent = [&](int64_t axis) { return shape[int(axis)]; };
    const auto stride = [&](int64_t axis) { return std::ptrdiff_t(shape.count(int(axis) + 1, shape.rank())); };
    const bool flat = axes.size() == 3;
    const int64_t token = axes[flat ? 1 : 2];
    return {tensor.floats(),     extent(axes[0]), extent(token), flat ? 1 : extent(axes[1]),
            extent(axes.back()), stride(axes[0]), stride(token), flat ? 0 : stride(axes[1])};
  }
  Heads output(Call& call, int64_t batch, int64_t heads_count, int64_t tokens, int64_t width) const {
    const std::vector<int64_t>& axes = layout_.output;
    const std::vector<int64_t> extents =
        axes.size() == 3 ? std::vector<int64_t>{batch, tokens, width} : std::vector<int64_t>{batch, heads_count, tokens, width};
    Tensor tensor;
    std::vector<int64_t> ordered(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) ordered[std::size_t(axes[i])] = extents[i];
    tensor.shape = Shape(std::move(ordered));
    tensor.data = call.output(0, tensor.shape);
    return heads(tensor, axes, "output");
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
  // A mask of [batch][heads][queries][keys], where that of a chain without heads has none.
  Tensor with_heads(Tensor mask, const char* name) const {
    const int rank = int(layout_.query.size());
    expect(mask.shape.rank() <= rank,
           std::string(name) + " is " + mask.shape.text() + ", expected at most " + std::to_string(rank) + " axes");
    if (rank == 3 && mask.shape.rank() == 3) mask.shape = {mask.shape[0], 1, mask.shape[1], mask.shape[2]};
    return mask;
  }
  // A mask with a column for each key.
  static Tensor whole_mask(const Tensor& mask, int64_t keys, WorkMemory& memory) {
    if (!mask || (mask.shape.rank() >= 1 && mask.shape[-1] == keys)) return mask;
    const int64_t rows = mask.shape.count();
    float* const to = memory.numbers<float>(times(rows, keys));
    for (int64_t i = 0; i < rows * keys; ++i) to[i] = mask.floats()[i / keys];
    std::vector<int64_t> extents = mask.shape.extents();
    if (extents.empty()) extents.push_back(1);
    extents.back() = keys;
    return {to, mask.type, Shape(std::move(extents))};
  }
  // Whether each key is seen: by all conditions, each of which says it or the opposite.
  Tensor shown(const Tensor (&conditions)[2], int64_t keys, WorkMemory& memory, const Call& call) const {
    const Shape& own = conditions[0].shape;
    if (!conditions[0] || (!conditions[1] && layout_.shows[0] && own.rank() >= 1 && own[-1] == keys)) return conditions[0];
    std::vector<int64_t> extents(std::size_t(std::max({1, own.rank(), conditions[1].shape.rank()})), 1);
    for (const Tensor& condition : conditions) {
      for (int axis = 1; axis <= condition.shape.rank(); ++axis) {
        if (condition.shape[-axis] != 1) extents[extents.size() - std::size_t(axis)] = condition.shape[-axis];
      }
    }
    extents.back() = keys;
    const Shape shape(std::move(extents));
    uint8_t* const to = memory.numbers<uint8_t>(shape.count());
    for (int which = 0; which < 2 && conditions[which]; ++which) {
      const Broadcast place(conditions[which].shape, shape, "condition");
      const int64_t stride = place.stride(-1);
      const uint8_t shows = layout_.shows[which] ? 1 : 0;
      for_pieces(call, keys == 0 ? 0 : shape.count() / keys, 0.1 * double(keys), [&](int64_t first, int64_t end) {
        for (int64_t row = first; row < end; ++row) {
          const uint8_t* const from = conditions[which].as<uint8_t>() + place.at(row * keys);
          uint8_t* const seen = to + row * keys;
          for (int64_t key = 0; key < keys; ++key)
            seen[key] = uint8_t((which == 0 || seen[key] != 0) && (from[key * stride] != 0) == (shows != 0));
        }
      });
    }
    return {to, boolean, shape};
  }

  // A query that the conditions show no key sees all of them by what they were filled with, where that is a number.
  void fill_unseen(const AttentionCall& attention, const Call& call) const {
    const Heads &q = attention.query, &k = attention.key, &v = attention.value, &output = attention.output;
    const Mask &mask = attention.mask, &bias = attention.bias;
    WorkMemory of_query, of_bias;
    float* const nothing = of_query.numbers<float>(q.width);
    std::fill(nothing, nothing + q.width, 0.0f);
    for (int64_t i = 0; i < times(times(q.batch, q.heads), q.tokens); ++i) {
      const int64_t row = i / q.tokens / q.heads, head = i / q.tokens % q.heads, query = i % q.tokens;
      const uint8_t* const seen =
          mask.tensor.as<uint8_t>() + row * mask.batch_stride + head * mask.head_stride + query * mask.query_stride;
      if (std::any_of(seen, seen + k.tokens, [](uint8_t each) { return each != 0; })) continue;
      AttentionCall one;
      const auto of_head = [&](const Heads& from, int64_t token) {
        Heads to = from;
        to.data = from.at(row, token, head);
        to.batch = to.heads = 1;
        return to;
      };
      one.query = heads_first(nothing, 1, 1, 1, q.width);
      one.key = of_head(k, 0);
      one.value = of_head(v, 0);
      one.output = of_head(output, query);
      one.output.tokens = 1;
      one.scale = 1;
      if (bias.tensor && layout_.mask_last) {
        float* const sums = of_bias.numbers<float>(k.tokens);
        const float* const from =
            bias.tensor.floats() + row * bias.batch_stride + head * bias.head_stride + query * bias.query_stride;
        for (int64_t key = 0; key < k.tokens; ++key) sums[key] = layout_.filling + from[key];
        const float most = *std::max_element(sums, sums + k.tokens);
        if (!std::isfinite(most)) continue;
        for (int64_t key = 0; key < k.tokens; ++key) sums[key] -= most;
        one.bias = mask_of({sums, float32, {k.tokens}}, 1, 1, 1, k.tokens, "mask");
      }
      attend_to(one, call);
    }
  }

  ChainLayout layout_;
};

}  // namespace

std::unique_ptr<Operator> make_chain_attention(const ChainLayout& layout) { return std::make_unique<ChainAttention>(layout); }

}  // namespace attend_adapter::onnx
