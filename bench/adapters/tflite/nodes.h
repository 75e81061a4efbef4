// A node of TensorFlow Lite: its tensors, its answer to the runtime, its registration, and attention on the runtime's number of
// threads.
#pragma once

#include <cstdlib>
#include <cstring>

#include "../common/masked.h"
#include "../common/memory.h"
#include "../common/threads.h"
#include "attention_node.h"

namespace attend_tflite {

constexpr Refusal no_memory = {"memory", "there is not enough"};

inline int inputs(const TfLiteNode& node) { return node.inputs == nullptr ? 0 : node.inputs->size; }
inline int outputs(const TfLiteNode& node) { return node.outputs == nullptr ? 0 : node.outputs->size; }

inline TfLiteTensor* tensor(TfLiteContext* context, int index) {
  return index < 0 || std::size_t(index) >= context->tensors_size ? nullptr : context->tensors + index;
}
// Null where the node has none.
inline const TfLiteTensor* input(TfLiteContext* context, const TfLiteNode& node, int i) {
  return i < inputs(node) ? tensor(context, node.inputs->data[i]) : nullptr;
}
inline TfLiteTensor* output(TfLiteContext* context, const TfLiteNode& node, int i) {
  return i < outputs(node) ? tensor(context, node.outputs->data[i]) : nullptr;
}

// Gives a tensor its shape. (The array becomes the runtime's, which frees it as C does; a function that copies one came in
// later versions.)
template <int axes>
Refusal resize(TfLiteContext* context, TfLiteTensor* tensor, const int (&dims)[axes]) {
  auto* const shape = static_cast<TfLiteIntArray*>(std::malloc(sizeof(TfLiteIntArray) + sizeof dims));
  if (shape == nullptr) return no_memory;
  shape->size = axes;
  std::memcpy(shape->data, dims, sizeof dims);
  if (context->ResizeTensor(context, tensor, shape) != kTfLiteOk) return {"output", "the runtime does not give it its shape"};
  return {};
}

inline TfLiteStatus answer(TfLiteContext* context, const char* name, const Refusal& refusal) {
  if (!refusal) return kTfLiteOk;
  report(context, name, refusal);
  return kTfLiteError;
}

// A custom operator, of version 1.
inline TfLiteRegistration registration(const char* name, void* (*init)(TfLiteContext*, const char*, std::size_t),
                                       void (*free)(TfLiteContext*, void*),
                                       TfLiteStatus (*prepare)(TfLiteContext*, TfLiteNode*),
                                       TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)) {
  TfLiteRegistration made{};
  made.init = init;
  made.free = free;
  made.prepare = prepare;
  made.invoke = invoke;
  made.custom_name = name;
  made.version = 1;
  return made;
}

// As many as the interpreter was given, and no more than the call has work for.
inline attend_adapter::Parallel threads_for(const TfLiteContext& context, const attend_problem& problem) {
  constexpr double worth_a_thread = 32768;  // multiply-adds
  const double work = double(problem.batch) * double(problem.queries) * double(problem.query_heads) * double(problem.keys) *
                      double(problem.head_dim + problem.value_dim);
  const int most = context.recommended_num_threads < 1 ? 1 : context.recommended_num_threads;
  const int parts = work / worth_a_thread >= most ? most : int(work / worth_a_thread) + 1;
  return attend_adapter::Threads::shared().parallel(parts < most ? parts : most);
}

inline Refusal run(TfLiteContext* context, Attention& attention, attend_adapter::Memory& work, attend_adapter::Memory& mask,
                   Addresses addresses) {
  if (attention.mask_numbers > 0) {
    addresses.converted = mask.numbers<std::uint8_t>(std::size_t(attention.mask_numbers));
    if (addresses.converted == nullptr) return no_memory;
  }
  const Refusal refused = bind(attention, addresses);
  if (refused) return refused;
  const attend_problem& problem = attention.problem;
  return refusal_of(attend_adapter::run_masked_attention(problem, threads_for(*context, problem), work));
}

}  // namespace attend_tflite
