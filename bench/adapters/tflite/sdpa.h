// odml.scaled_dot_product_attention, the operator that Google's AI Edge exporters write, for either runtime:
//
//   query  [batch, tokens, heads, head_dim]       key  [batch, keys, kv_heads, head_dim]       value  [batch, keys, kv_heads,
//   value_dim] mask   float32, added to the scores, or bool, true for what is seen, of up to four axes that spread over [batch,
//   heads, tokens, keys]; or none output [batch, tokens, heads, value_dim]
#pragma once

#include "attention_node.h"

namespace attend_tflite {

constexpr const char* sdpa_name = "odml.scaled_dot_product_attention";

// mask is null without one. The output's dims are not read: output_dims are what they are to be.
inline Refusal prepare_sdpa(const AttentionAttributes& attributes, const TfLiteTensor& query, const TfLiteTensor& key,
                            const TfLiteTensor& value, const TfLiteTensor* mask, const TfLiteTensor& output,
                            Attention& attention, int (&output_dims)[4], std::size_t* bytes) {
  if (!has_four_axes(query, sizeof(float))) return {"query", "four axes are needed: batch, tokens, heads and head_dim"};
  if (!has_four_axes(key, sizeof(float))) return {"key", "four axes are needed: batch, keys, heads and head_dim"};
  if (!has_four_axes(value, sizeof(float))) return {"value", "four axes are needed: batch, keys, heads and value_dim"};
  if (dim(key, 0) != dim(query, 0)) return {"key", "its batch is not the query's"};
  if (dim(value, 0) != dim(query, 0)) return {"value", "its batch is not the query's"};
  if (dim(value, 1) != dim(key, 1)) return {"value", "it has not as many tokens as the key"};
  if (dim(value, 2) != dim(key, 2)) return {"value", "it has not as many heads as the key"};
  if (dim(key, 3) != dim(query, 3)) return {"key", "its head_dim is not the query's"};
  Refusal refused = start(attention, attributes, query, key, value, output, dim(query, 3), dim(value, 3));
  if (refused) return refused;
  attend_problem& problem = attention.problem;
  problem.batch = dim(query, 0);
  problem.queries = dim(query, 1);
  problem.query_heads = dim(query, 2);
  problem.keys = dim(key, 1);
  problem.kv_heads = dim(key, 2);
  const auto dense = [](auto& tensor, const TfLiteTensor& like, int width) {
    tensor.head_stride = width;
    tensor.token_stride = std::ptrdiff_t(dim(like, 2)) * width;
    tensor.batch_stride = tensor.token_stride * dim(like, 1);
  };
  dense(problem.query, query, dim(query, 3));
  dense(problem.key, key, dim(key, 3));
  dense(problem.value, value, dim(value, 3));
  dense(problem.output, query, dim(value, 3));
  const bool integers = query.type == kTfLiteInt8;
  if (mask != nullptr) {
    const int extents[4] = {dim(query, 0), dim(query, 2), dim(query, 1), dim(key, 1)};
    const int axes = rank(*mask);
    std::ptrdiff_t strides[4] = {0, 0, 0, 1}, numbers = 1;
    if (axes < 1 || axes > 4 || dim(*mask, axes - 1) != extents[3]) {
      return {"mask", "one to four axes are needed, as many of [batch, heads, tokens, keys], and the last has all keys"};
    }
    for (int axis = 3; axis >= 4 - axes; --axis) {
      const int extent = dim(*mask, axis - (4 - axes));
      if (extent != extents[axis] && extent != 1)
        return {"mask", "an axis has neither as many numbers as [batch, heads, tokens, keys] nor 1"};
      if (axis < 3) strides[axis] = extent == 1 ? 0 : numbers;
      if (extent != 0 && numbers > PTRDIFF_MAX / 4 / extent) return {"mask", "it is too large"};
      numbers *= extent;
    }
    refused = set_mask(attention, *mask, integers, {strides[0], strides[1], strides[2]}, numbers);
    if (refused) return refused;
  }
  for (int axis = 0; axis < 4; ++axis) output_dims[axis] = axis < 3 ? dim(query, axis) : dim(value, 3);
  std::size_t largest = query.bytes > key.bytes ? query.bytes : key.bytes;
  if (value.bytes > largest) largest = value.bytes;
  if (mask != nullptr && mask->bytes > largest) largest = mask->bytes;
  if (largest > std::size_t(PTRDIFF_MAX) / 4) return {"query", "it is too large"};
  return check(attention, largest, bytes);
}

}  // namespace attend_tflite
