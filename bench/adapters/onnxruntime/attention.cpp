#include "attention.h"

#include <cstring>

#include "../common/masked.h"
#include "rows.h"

namespace attend_adapter::onnx {

Heads tokens_first(const float* data, int64_t batch, int64_t tokens, int64_t heads, int64_t width) {
  return {data, batch, tokens, heads, width, times(tokens, times(heads, width)), heads * width, width};
}

Heads heads_first(const float* data, int64_t batch, int64_t heads, int64_t tokens, int64_t width) {
  return {data, batch, tokens, heads, width, times(heads, times(tokens, width)), width, tokens * width};
}

Heads heads_of(const Tensor& tensor, int64_t heads, const char* name) {
  const Shape& shape = tensor.shape;
  const std::string said = std::string(name) + " is " + shape.text();
  if (shape.rank() == 4) {
    expect(heads == 0 || shape[1] == heads, said + ", expected " + std::to_string(heads) + " heads on its second axis");
    return heads_first(tensor.floats(), shape[0], shape[1], shape[2], shape[3]);
  }
  expect(shape.rank() == 3, said + ", expected 3 or 4 axes");
  expect(heads > 0, said + ", and with 3 axes the number of heads must be given as an attribute");
  expect(shape[2] % heads == 0, said + ", whose last axis is no multiple of " + std::to_string(heads) + " heads");
  return tokens_first(tensor.floats(), shape[0], shape[1], heads, shape[2] / heads);
}

void copy_tokens(const Heads& from, const Heads& to, const std::vector<int64_t>& first, const Call& call) {
  if (from.batch == 0 || from.tokens == 0 || from.width == 0) return;
  const std::size_t bytes = std::size_t(from.width) * sizeof(float);
  for_pieces(call, from.batch * from.heads, double(from.tokens * from.width) / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / from.heads, head = i % from.heads, token = first[first.size() > 1 ? std::size_t(row) : 0];
      float* target = const_cast<float*>(to.at(row, token, head));
      const float* source = from.at(row, 0, head);
      if (from.token_stride == from.width && to.token_stride == to.width) {
        std::memcpy(target, source, bytes * std::size_t(from.tokens));
        continue;
      }
      for (int64_t t = 0; t < from.tokens; ++t, target += to.token_stride, source += from.token_stride)
        std::memcpy(target, source, bytes);
    }
  });
}

Heads present_of(const Heads& past, const Heads& added, float* present, WorkMemory& memory, const Call& call) {
  const int64_t total = past.tokens + added.tokens;
  if (present == nullptr && past.tokens == 0) return added;
  if (present == nullptr) present = memory.numbers<float>(times(times(added.batch, added.heads), times(total, added.width)));
  const Heads to = heads_first(present, added.batch, added.heads, total, added.width);
  if (past.tokens > 0) copy_tokens(past, to, {0}, call);
  copy_tokens(added, to, {past.tokens}, call);
  return to;
}

Mask mask_of(const Tensor& tensor, int64_t batch, int64_t heads, int64_t queries, int64_t keys, const char* name,
             bool may_be_shorter) {
  Mask mask;
  if (!tensor) return mask;
  expect(tensor.type == boolean || tensor.type == float32,
         std::string("input ") + name + " is of " + name_of(tensor.type) + ", expected bool or float32");
  const Shape& shape = tensor.shape;
  const int64_t extents[] = {batch, heads, queries};
  const std::string said =
      std::string(name) + " of shape " + shape.text() + " cannot be broadcast to " + Shape{batch, heads, queries, keys}.text();
  expect(shape.rank() >= 1 && shape.rank() <= 4, said);
  // One column of several could be that of all keys, or the first of them.
  expect(shape[-1] == keys || (may_be_shorter && shape[-1] < keys && shape[-1] != 1), said);
  mask.tensor = tensor;
  mask.keys = shape[-1];
  std::ptrdiff_t* const strides[] = {&mask.batch_stride, &mask.head_stride, &mask.query_stride};
  int64_t stride = shape[-1];
  for (int axis = 2; axis <= shape.rank(); ++axis) {
    const int64_t extent = extents[4 - axis];
    expect(shape[-axis] == extent || shape[-axis] == 1, said);
    if (shape[-axis] > 1) *strides[4 - axis] = stride;
    stride *= shape[-axis];
  }
  return mask;
}

namespace {

void refuse_status(attend_status status) {
  if (status != ATTEND_OK) refuse(std::string(attend_argument_name(status)) + ": " + attend_error_text(status));
}

}  // namespace

void attend_to(const AttentionCall& attention, const Call& call) {
  const Heads &query = attention.query, &key = attention.key;
  if (query.batch == 0 || query.tokens == 0 || query.heads == 0 || attention.value.width == 0) return;
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  problem.batch = query.batch;
  problem.query_heads = query.heads;
  problem.kv_heads = key.heads;
  problem.head_dim = query.width;
  problem.value_dim = attention.value.width;
  problem.queries = query.tokens;
  problem.keys = key.tokens;
  const std::vector<ptrdiff_t> lengths(attention.lengths.begin(), attention.lengths.end());
  if (!lengths.empty()) problem.key_lengths = lengths.data();
  problem.query = query.input();
  problem.key = key.input();
  problem.value = attention.value.input();
  const attend_input output = attention.output.input();
  problem.output = {const_cast<void*>(output.data), output.batch_stride, output.token_stride, output.head_stride};
  problem.scale = attention.scale;
  problem.soft_cap = attention.soft_cap;
  problem.sink_logits = attention.sink_logits;
  if (attention.causal) problem.options |= ATTEND_CAUSAL;
  if (attention.window_left >= 0) problem.window_left = attention.window_left;
  if (attention.window_right >= 0) problem.window_right = attention.window_right;
  if (attention.causal || attention.window_left >= 0 || attention.window_right >= 0) {
    if (attention.queries_last) {
      problem.options |= ATTEND_QUERIES_LAST;
    } else {
      problem.offset = attention.offset;
    }
  }
  if (const Mask& mask = attention.mask; mask.tensor)
    problem.mask = {mask.tensor.data, mask.batch_stride, mask.head_stride, mask.query_stride, mask.keys, ATTEND_MASK_BYTES};
  if (const Mask& bias = attention.bias; bias.tensor)
    problem.bias = {bias.tensor.floats(), bias.batch_stride, bias.head_stride, bias.query_stride, bias.keys};
  if (attention.scores != nullptr) {
    const std::ptrdiff_t of_head = query.tokens * attention.score_keys;
    problem.scores = {attention.scores,     query.heads * of_head, of_head,
                      attention.score_keys, attention.score_keys,  attention.stage};
  }
  const double products = double(query.batch) * double(query.heads) * double(query.tokens) * double(key.tokens);
  const Parallel parallel = call.parallel(products * double(query.width + attention.value.width + 16));
  WorkMemory memory;
  refuse_status(run_masked_attention(problem, parallel, memory.memory()));
}

}  // namespace attend_adapter::onnx
