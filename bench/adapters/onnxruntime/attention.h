// What all attention operators share: tensors of heads, past and new keys in one array, and the call.
#pragma once

#include <attend/attend_c.h>

#include "../common/memory.h"
#include "call.h"

namespace attend_adapter::onnx {

// A tensor of tokens and heads, whichever of the two comes first.
struct Heads {
  const float* data = nullptr;
  int64_t batch = 0, tokens = 0, heads = 0, width = 0;
  std::ptrdiff_t batch_stride = 0, token_stride = 0, head_stride = 0;

  const float* at(int64_t row, int64_t token, int64_t head) const {
    return data + row * batch_stride + token * token_stride + head * head_stride;
  }
  attend_input input() const { return {data, batch_stride, token_stride, head_stride}; }
};

// [batch][heads][tokens][width], or [batch][tokens][heads * width] where there are three axes.
Heads heads_of(const Tensor& tensor, int64_t heads, const char* name);
// The strides of a dense array of either kind, at `data`.
Heads tokens_first(const float* data, int64_t batch, int64_t tokens, int64_t heads, int64_t width);
Heads heads_first(const float* data, int64_t batch, int64_t heads, int64_t tokens, int64_t width);

// Copies the tokens of each row to `to`, from its token first[row] on, or first[0] for all; on threads.
void copy_tokens(const Heads& from, const Heads& to, const std::vector<int64_t>& first, const Call& call);

// Past and new tokens of each row in one array: `present`, if it is not null; the new ones where they lie, if there is no past;
// or else memory.
Heads present_of(const Heads& past, const Heads& added, float* present, WorkMemory& memory, const Call& call);

// A mask, boolean or additive, that is broadcast to [batch][heads][queries][keys].
struct Mask {
  Tensor tensor;  // boolean or float32; none where it has no type
  std::ptrdiff_t batch_stride = 0, head_stride = 0, query_stride = 0;
  int64_t keys = 0;  // columns: keys behind them are masked
};
Mask mask_of(const Tensor& tensor, int64_t batch, int64_t heads, int64_t queries, int64_t keys, const char* name,
             bool may_be_shorter = false);

// Attention of a batch. What is 0 or null is off.
struct AttentionCall {
  Heads query, key, value, output;  // `output` is written to
  std::vector<int64_t> lengths;     // keys of each row; empty: all
  int64_t offset = 0;               // position of the first query among the keys, where
  bool queries_last = false;        // the queries are not the last of the keys that each row has
  bool causal = false;
  int64_t window_left = -1, window_right = -1;  // keys before and after its own that a query sees; -1: all
  float scale = ATTEND_DEFAULT_SCALE;
  float soft_cap = 0;
  Mask mask, bias;  // of which the first is boolean and the second additive, or both are none
  const float* sink_logits = nullptr;
  float* scores = nullptr;  // [batch][heads][queries][score_keys]
  int64_t score_keys = 0;
  int stage = ATTEND_SCORES_NONE;
};

// Padding on either side changes no bit: common/masked.h.
void attend_to(const AttentionCall& attention, const Call& call);

}  // namespace attend_adapter::onnx
