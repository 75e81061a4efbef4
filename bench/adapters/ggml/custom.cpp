// Attention as a custom node of a graph (attend_ggml.h): heads of a group and sequences are shared out among the threads that
// ggml calls it with, each computed as the adapter computes FLASH_ATTN_EXT.
#include <cstdio>

#include "operations.h"

struct ggml_tensor;
struct attend_ggml_options {
  float scale, soft_cap;
};

namespace attend_ggml {
namespace {

const Tensor* tensor_of(const ggml_tensor* tensor) { return reinterpret_cast<const Tensor*>(tensor); }

// The node of FLASH_ATTN_EXT that has the same sources and extents.
Tensor node_of(const Tensor* q, const Tensor* k, const Tensor* v, const Tensor* mask, const attend_ggml_options& options) {
  Tensor node{};
  node.type = type_float32;
  const std::int64_t extents[] = {v->extents[0], q->extents[2], q->extents[1], q->extents[3]};
  std::size_t stride = sizeof(float);
  for (int axis = 0; axis < 4; ++axis) {
    node.extents[axis] = extents[axis];
    node.strides[axis] = stride;
    stride *= std::size_t(extents[axis]);
  }
  const Tensor* const sources[] = {q, k, v, mask};
  for (int i = 0; i < 4; ++i) node.sources[i] = const_cast<Tensor*>(sources[i]);
  const float parameters[] = {options.scale, 0, options.soft_cap};
  std::memcpy(node.parameters, parameters, sizeof parameters);
  return node;
}

// Some of a tensor's third axis, of one place of the fourth; places of what is repeated begin again.
Tensor some(const Tensor& of, std::int64_t first, std::int64_t count, std::int64_t fourth) {
  Tensor tensor = of;
  tensor.data = at(of, {0, first, fourth});
  tensor.extents[2] = count;
  tensor.extents[3] = 1;
  return tensor;
}

// The heads that share keys and values, of one sequence.
bool compute_heads(const Tensor& whole, std::int64_t kv_head, std::int64_t batch, Work& work) {
  const Tensor &q = *whole.sources[0], &k = *whole.sources[1], &v = *whole.sources[2];
  const Tensor* const mask = whole.sources[3];
  const std::int64_t shared = q.extents[2] / k.extents[2], first = kv_head * shared,
                     cache = batch / (q.extents[3] / k.extents[3]);
  Tensor queries = some(q, first, shared, batch), keys = some(k, kv_head, 1, cache), values = some(v, kv_head, 1, cache),
         own_mask{};
  Tensor node = whole;
  node.data = at(whole, {first, 0, batch});
  node.extents[1] = shared;
  node.extents[3] = 1;
  node.sources[0] = &queries, node.sources[1] = &keys, node.sources[2] = &values;
  if (mask != nullptr) {
    const bool by_head = mask->extents[2] > 1;
    own_mask = some(*mask, by_head ? first : 0, by_head ? shared : 1, batch % mask->extents[3]);
    node.sources[3] = &own_mask;
  }
  work.visible.forget();
  return attention_operations[0].operation.compute(node, work);
}

}  // namespace
}  // namespace attend_ggml

using namespace attend_ggml;

extern "C" bool attend_ggml_takes(const ggml_tensor* q, const ggml_tensor* k, const ggml_tensor* v, const ggml_tensor* mask,
                                  const attend_ggml_options* options) {
  if (library() == nullptr) return false;
  if (has_extents(tensor_of(q)) && has_extents(tensor_of(k)) && has_extents(tensor_of(v)) && options != nullptr) {
    const Tensor node = node_of(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(mask), *options);
    const bool all_heads =
        mask == nullptr || tensor_of(mask)->extents[2] == 1 || tensor_of(mask)->extents[2] == node.extents[1];
    if (all_heads && attention_operations[0].operation.takes(node)) return true;
  }
  std::fprintf(stderr, "attend: attend_ggml_attention does not take these tensors: a type, an extent, a stride or an option\n");
  return false;
}

extern "C" void attend_ggml_compute(ggml_tensor* to, int part, int parts, void* options) {
  const Tensor& custom = *tensor_of(to);
  Tensor node = node_of(custom.sources[0], custom.sources[1], custom.sources[2], custom.sources[3],
                        *static_cast<attend_ggml_options*>(options));
  node.data = custom.data;
  static thread_local Work work;
  work.parallel = {nullptr, nullptr, 1};
  work.threads.resize(1);
  const std::int64_t kv_heads = node.sources[1]->extents[2], all = kv_heads * node.extents[3];
  for (std::int64_t i = part; i < all; i += parts) {
    if (!compute_heads(node, i % kv_heads, i / kv_heads, work))
      std::fprintf(stderr, "attend: attend_ggml_attention has no memory; its output is incomplete\n");
  }
}
