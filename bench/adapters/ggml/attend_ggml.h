// Attention for programs that build ggml graphs of their own: one function, which adds a custom node. Include it behind
// <ggml.h>, compile bench/adapters/ggml/{custom,attention,visible,widen,library}.cpp with the program, and link the library and
// ggml.
#pragma once

// Options of a node. They are read while the graph is computed, and must live until then.
struct attend_ggml_options {
  float scale;     // of scores, usually 1 / sqrt(dim)
  float soft_cap;  // scores become soft_cap * tanh(score / soft_cap); 0: none
};

extern "C" {
// Whether attend_ggml_attention takes such tensors, which may have no memory yet; otherwise it says so on standard error.
bool attend_ggml_takes(const ggml_tensor* q, const ggml_tensor* k, const ggml_tensor* v, const ggml_tensor* mask,
                       const attend_ggml_options* options);
// What the node calls.
void attend_ggml_compute(ggml_tensor* node, int part, int parts, void* options);
}

// Tensors are those of ggml_flash_attn_ext, and so are the bits those of the adapter's FLASH_ATTN_EXT:
//
//   q     float32, [batch][head][token][dim]
//   k     float32, float16, bfloat16, Q8_0 or Q4_0, [batch][kv head][cell][dim]
//   v     likewise, [batch][kv head][cell][value dim]
//   mask  float16, [1 or batch][1 or head][token or more][cell or more], added to scores, minus infinity where a cell is not
//   seen; or null
//
// The node is float32, [batch][token][head][value dim]. The CPU computes it by as many threads as the graph has. Null where the
// tensors are not taken, with a sentence on standard error; nothing was added then.
inline ggml_tensor* attend_ggml_attention(ggml_context* context, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v,
                                          ggml_tensor* mask, attend_ggml_options* options) {
  if (!attend_ggml_takes(q, k, v, mask, options)) return nullptr;
  ggml_tensor* sources[] = {q, k, v, mask};
  return ggml_custom_4d(context, GGML_TYPE_F32, v->ne[0], q->ne[2], q->ne[1], q->ne[3], sources, mask == nullptr ? 3 : 4,
                        attend_ggml_compute, GGML_N_TASKS_MAX, options);
}
