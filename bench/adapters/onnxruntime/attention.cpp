#include "attention.h"

#include <cmath>
#include <cstring>
#include <limits>

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

// At or below it an additive mask hides a key exactly, as the lowest float does.
constexpr float hides = -2.36e38f;

bool sees(const Mask& mask, std::ptrdiff_t offset) {
  if (mask.tensor.type == boolean) return mask.tensor.as<uint8_t>()[offset] != 0;
  return !(mask.tensor.floats()[offset] <= hides);
}

// The first key of a row that a query of the row sees by the mask, of so many; 0 where there is none.
int64_t first_seen(const Mask& mask, int64_t row, int64_t heads, int64_t queries, int64_t keys) {
  if (!mask.tensor) return 0;
  const int64_t columns = mask.keys < keys ? mask.keys : keys;
  int64_t first = columns;
  for (int64_t head = 0; head < (mask.head_stride == 0 ? 1 : heads) && first > 0; ++head) {
    for (int64_t query = 0; query < (mask.query_stride == 0 ? 1 : queries) && first > 0; ++query) {
      const std::ptrdiff_t offset = row * mask.batch_stride + head * mask.head_stride + query * mask.query_stride;
      for (int64_t key = 0; key < first; ++key) {
        if (sees(mask, offset + key)) first = key;
      }
    }
  }
  return first == columns ? 0 : first;
}

void refuse_status(attend_status status) {
  if (status != ATTEND_OK) refuse(std::string(attend_argument_name(status)) + ": " + attend_error_text(status));
}

// The problem of a batch row without its first keys.
attend_problem problem_of(const AttentionCall& attention, int64_t row, int64_t first) {
  attend_problem problem;
  attend_problem_init(&problem, sizeof problem);
  const auto moved = [](const Heads& heads, int64_t of_row, int64_t token) {
    Heads from = heads;
    from.data = heads.at(of_row, token, 0);
    return from.input();
  };
  problem.batch = 1;
  problem.query_heads = attention.query.heads;
  problem.kv_heads = attention.key.heads;
  problem.head_dim = attention.query.width;
  problem.value_dim = attention.value.width;
  problem.queries = attention.query.tokens;
  problem.keys = (attention.lengths.empty() ? attention.key.tokens : attention.lengths[std::size_t(row)]) - first;
  problem.query = moved(attention.query, row, 0);
  problem.key = moved(attention.key, row, first);
  problem.value = moved(attention.value, row, first);
  const attend_input output = moved(attention.output, row, 0);
  problem.output = {const_cast<void*>(output.data), output.batch_stride, output.token_stride, output.head_stride};
  problem.scale = attention.scale;
  problem.soft_cap = attention.soft_cap;
  problem.sink_logits = attention.sink_logits;
  if (attention.causal) problem.options |= ATTEND_CAUSAL;
  if (attention.window_left >= 0) problem.window_left = attention.window_left;
  if (attention.causal || attention.window_left >= 0)
    problem.offset = attention.offsets[attention.offsets.size() > 1 ? std::size_t(row) : 0] - first;
  if (const Mask& mask = attention.mask; mask.tensor) {
    const int64_t keys = mask.keys < first ? 0 : mask.keys - first;
    problem.mask = {mask.tensor.as<uint8_t>() + row * mask.batch_stride + first,
                    0,
                    mask.head_stride,
                    mask.query_stride,
                    keys,
                    ATTEND_MASK_BYTES};
  }
  if (const Mask& bias = attention.bias; bias.tensor) {
    const int64_t keys = bias.keys < first ? 0 : bias.keys - first;
    problem.bias = {bias.tensor.floats() + row * bias.batch_stride + first, 0, bias.head_stride, bias.query_stride, keys};
  }
  if (attention.scores != nullptr) {
    const std::ptrdiff_t of_head = attention.query.tokens * attention.score_keys;
    float* const data = attention.scores + row * attention.query.heads * of_head + first;
    problem.scores = {data, 0, of_head, attention.score_keys, attention.score_keys - first, attention.stage};
  }
  return problem;
}

// Scores of keys in front of `first`, which are masked.
void fill_scores(const AttentionCall& attention, int64_t row, int64_t first) {
  const float nothing = attention.stage == ATTEND_SCORES_WEIGHTS ? 0 : -std::numeric_limits<float>::infinity();
  const int64_t rows = attention.query.heads * attention.query.tokens;
  for (int64_t i = row * rows; i < (row + 1) * rows; ++i) {
    for (int64_t key = 0; key < first; ++key) attention.scores[i * attention.score_keys + key] = nothing;
  }
}

}  // namespace

void attend_to(const AttentionCall& attention, const Call& call) {
  const int64_t batch = attention.query.batch, queries = attention.query.tokens;
  if (batch == 0 || queries == 0 || attention.query.heads == 0 || attention.value.width == 0) return;
  std::vector<attend_problem> problems;
  std::size_t bytes = 0;
  for (int64_t row = 0; row < batch; ++row) {
    const int64_t keys = attention.lengths.empty() ? attention.key.tokens : attention.lengths[std::size_t(row)];
    const int64_t by_mask = first_seen(attention.mask, row, attention.query.heads, queries, keys);
    const int64_t by_bias = first_seen(attention.bias, row, attention.query.heads, queries, keys);
    const int64_t first = by_mask > by_bias ? by_mask : by_bias;
    if (attention.scores != nullptr) fill_scores(attention, row, first);
    problems.push_back(problem_of(attention, row, first));
    refuse_status(attend_check(&problems.back()));
    const std::size_t size = attend_workspace_size(&problems.back());
    bytes = size > bytes ? size : bytes;
  }
  bytes = (bytes + ATTEND_ALIGNMENT - 1) / ATTEND_ALIGNMENT * ATTEND_ALIGNMENT;
  const double products = double(attention.query.heads) * double(queries) * double(attention.key.tokens);
  const Parallel parallel =
      call.parallel(double(batch) * products * double(attention.query.width + attention.value.width + 16));
  const int64_t pieces = batch % parallel.threads == 0 ? 1 : parallel.threads;  // of a row, among heads and queries
  WorkMemory memory;
  char* const work = memory.numbers<char>(times(int64_t(bytes), parallel.threads));
  parallel.each(parallel.threads, [&](int part) {
    const int64_t total = batch * pieces;
    for (int64_t i = total * part / parallel.threads; i < total * (part + 1) / parallel.threads; ++i) {
      attend_run_part(&problems[std::size_t(i / pieces)], i % pieces, pieces, work + bytes * std::size_t(part),
                      bytes);  // was checked
    }
  });
}

}  // namespace attend_adapter::onnx
