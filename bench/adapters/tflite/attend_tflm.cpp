// The operators of TFLite Micro. A node's state and the caches are persistent buffers of the arena; work memory, and a mask
// that is turned into bytes, are scratch buffers, which other nodes use too. Outputs have the shapes that the model says, as
// nothing is resized there.
#include "attend_tflm.h"

#include <attend/core/config.h>
#include <tensorflow/lite/micro/micro_context.h>

#include "kv_cache.h"
#include "sdpa.h"

namespace attend_tflite {
namespace {

constexpr Refusal no_memory = {"memory", "the arena is too small"};

tflite::MicroContext& micro(TfLiteContext* context) { return *tflite::GetMicroContext(context); }

int inputs(const TfLiteNode& node) { return node.inputs == nullptr ? 0 : node.inputs->size; }
int outputs(const TfLiteNode& node) { return node.outputs == nullptr ? 0 : node.outputs->size; }

// The tensors of a node while it is prepared.
class Tensors {
 public:
  Tensors(TfLiteContext* context, const TfLiteNode& node) : micro_(micro(context)) {
    for (int i = 0; i < most_inputs; ++i) in[i] = i < inputs(node) ? micro_.AllocateTempInputTensor(&node, i) : nullptr;
    for (int i = 0; i < most_outputs; ++i) out[i] = i < outputs(node) ? micro_.AllocateTempOutputTensor(&node, i) : nullptr;
  }
  ~Tensors() {  // in the opposite order: temporary memory is a stack
    for (int i = most_outputs; i-- > 0;) release(out[i]);
    for (int i = most_inputs; i-- > 0;) release(in[i]);
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  static constexpr int most_inputs = 4, most_outputs = 2;
  TfLiteTensor* in[most_inputs];
  TfLiteTensor* out[most_outputs];

 private:
  void release(TfLiteTensor* tensor) {
    if (tensor != nullptr) micro_.DeallocateTempTfLiteTensor(tensor);
  }
  tflite::MicroContext& micro_;
};

TfLiteEvalTensor* input(TfLiteContext* context, const TfLiteNode& node, int i) {
  return i < inputs(node) && node.inputs->data[i] >= 0 ? micro(context).GetEvalTensor(node.inputs->data[i]) : nullptr;
}
TfLiteEvalTensor* output(TfLiteContext* context, const TfLiteNode& node, int i) {
  return micro(context).GetEvalTensor(node.outputs->data[i]);
}

bool has_dims(const TfLiteTensor& tensor, const int (&dims)[4]) {
  if (rank(tensor) != 4) return false;
  for (int axis = 0; axis < 4; ++axis) {
    if (dim(tensor, axis) != dims[axis]) return false;
  }
  return true;
}

TfLiteStatus answer(TfLiteContext* context, const char* name, const Refusal& refusal) {
  if (!refusal) return kTfLiteOk;
  report(context, name, refusal);
  return kTfLiteError;
}

// A node's state, whose attributes are read when it is made.
template <class State>
void* make(TfLiteContext* context, const char* buffer, std::size_t length) {
  void* const memory = micro(context).AllocatePersistentBuffer(sizeof(State));
  if (memory == nullptr) return nullptr;
  const State fresh{};
  std::memcpy(memory, &fresh, sizeof fresh);
  State* const state = static_cast<State*>(memory);
  state->refused = read(buffer, length, state->attributes);
  return state;
}

// Scratch buffers begin at multiples of 16; the library may want more.
constexpr std::size_t scratch_alignment = 16;
constexpr std::size_t scratch_gap =
    attend::config::alignment > scratch_alignment ? attend::config::alignment - scratch_alignment : 0;

struct Sdpa {
  Refusal refused;
  AttentionAttributes attributes;
  Attention attention;
  std::size_t work_bytes;
  int work, mask;  // scratch buffers
};

TfLiteStatus sdpa_prepare(TfLiteContext* context, TfLiteNode* node) {
  Sdpa* const sdpa = static_cast<Sdpa*>(node->user_data);
  const auto prepare = [&]() -> Refusal {
    if (sdpa == nullptr) return no_memory;
    if (sdpa->refused) return sdpa->refused;
    if (inputs(*node) < 3 || inputs(*node) > 4) return {"inputs", "query, key and value are needed, and a mask may follow"};
    if (outputs(*node) != 1) return {"outputs", "there is one"};
    const Tensors tensors(context, *node);
    for (int i = 0; i < 3; ++i) {
      if (tensors.in[i] == nullptr) return {"inputs", "query, key or value is missing"};
    }
    if (tensors.out[0] == nullptr) return {"outputs", "the output is missing"};
    int dims[4];
    const Refusal refused = prepare_sdpa(sdpa->attributes, *tensors.in[0], *tensors.in[1], *tensors.in[2], tensors.in[3],
                                         *tensors.out[0], sdpa->attention, dims, &sdpa->work_bytes);
    if (refused) return refused;
    if (!has_dims(*tensors.out[0], dims)) return {"output", "its shape is not [batch, tokens, heads, value_dim]"};
    if (micro(context).RequestScratchBufferInArena(sdpa->work_bytes + scratch_gap, &sdpa->work) != kTfLiteOk) return no_memory;
    const std::size_t mask = std::size_t(sdpa->attention.mask_numbers);
    if (mask > 0 && micro(context).RequestScratchBufferInArena(mask, &sdpa->mask) != kTfLiteOk) return no_memory;
    return {};
  };
  return answer(context, sdpa_name, prepare());
}

TfLiteStatus sdpa_invoke(TfLiteContext* context, TfLiteNode* node) {
  Sdpa& sdpa = *static_cast<Sdpa*>(node->user_data);
  const auto invoke = [&]() -> Refusal {
    const TfLiteEvalTensor* const mask = input(context, *node, 3);
    std::uint8_t* const converted =
        sdpa.attention.mask_numbers > 0 ? static_cast<std::uint8_t*>(micro(context).GetScratchBuffer(sdpa.mask)) : nullptr;
    const Refusal refused =
        bind(sdpa.attention,
             {input(context, *node, 0)->data.data, input(context, *node, 1)->data.data, input(context, *node, 2)->data.data,
              mask == nullptr ? nullptr : mask->data.data, output(context, *node, 0)->data.data, converted});
    if (refused) return refused;
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(micro(context).GetScratchBuffer(sdpa.work));
    constexpr std::uintptr_t alignment = attend::config::alignment;
    return refusal_of(attend_run(&sdpa.attention.problem, reinterpret_cast<void*>((at + alignment - 1) / alignment * alignment),
                                 sdpa.work_bytes));
  };
  return answer(context, sdpa_name, invoke());
}

struct Update {
  Refusal refused;
  CacheAttributes attributes;
  CacheUpdate update;
  std::int64_t first;
  char *keys, *values;
};

CacheContents contents_of(Update& update) { return {update.keys, update.values, &update.first}; }

TfLiteStatus update_prepare(TfLiteContext* context, TfLiteNode* node) {
  Update* const update = static_cast<Update*>(node->user_data);
  const auto prepare = [&]() -> Refusal {
    if (update == nullptr) return no_memory;
    if (update->refused) return update->refused;
    if (inputs(*node) != 3) return {"inputs", "position, key and value are needed"};
    if (outputs(*node) != 2) return {"outputs", "there are two"};
    {
      const Tensors tensors(context, *node);
      for (int i = 0; i < 3; ++i) {
        if (tensors.in[i] == nullptr) return {"inputs", "one is missing"};
      }
      if (tensors.out[0] == nullptr || tensors.out[1] == nullptr) return {"outputs", "one is missing"};
      int dims[4];
      const Refusal refused = prepare_update(update->attributes.kv_cache_max, *tensors.in[0], *tensors.in[1], *tensors.in[2],
                                             *tensors.out[0], *tensors.out[1], update->update, dims);
      if (refused) return refused;
      if (!has_dims(*tensors.out[0], dims) || !has_dims(*tensors.out[1], dims))
        return {"output", "its shape is not [1, kv_cache_max, heads, head_dim]"};
    }
    if (update->update.bytes() == 0) return {"key", "it has no numbers"};
    if (update->keys == nullptr)
      update->keys = static_cast<char*>(micro(context).AllocatePersistentBuffer(update->update.bytes()));
    if (update->values == nullptr)
      update->values = static_cast<char*>(micro(context).AllocatePersistentBuffer(update->update.bytes()));
    if (update->keys == nullptr || update->values == nullptr) return no_memory;
    empty(update->update, contents_of(*update));
    // The outputs are the cache itself: what has its memory already is given none.
    output(context, *node, 0)->data.data = update->keys;
    output(context, *node, 1)->data.data = update->values;
    return {};
  };
  return answer(context, update_kv_cache_name, prepare());
}

TfLiteStatus update_invoke(TfLiteContext* context, TfLiteNode* node) {
  Update& update = *static_cast<Update*>(node->user_data);
  const Refusal refused = put(update.update, input(context, *node, 0)->data.data, input(context, *node, 1)->data.data,
                              input(context, *node, 2)->data.data, contents_of(update));
  // Where the runtime gave the outputs memory of their own all the same, they are copies.
  void *const keys = output(context, *node, 0)->data.data, *const values = output(context, *node, 1)->data.data;
  if (!refused && keys != update.keys) std::memcpy(keys, update.keys, update.update.bytes());
  if (!refused && values != update.values) std::memcpy(values, update.values, update.update.bytes());
  return answer(context, update_kv_cache_name, refused);
}

// The interpreter's Reset() empties caches.
void update_reset(TfLiteContext*, void* state) {
  Update* const update = static_cast<Update*>(state);
  if (update != nullptr && update->keys != nullptr && update->values != nullptr) empty(update->update, contents_of(*update));
}

constexpr TFLMRegistration sdpa_registration = {make<Sdpa>, nullptr, sdpa_prepare, sdpa_invoke, nullptr, 0, sdpa_name};
constexpr TFLMRegistration update_registration = {make<Update>, nullptr, update_prepare,      update_invoke,
                                                  update_reset, 0,       update_kv_cache_name};

}  // namespace
}  // namespace attend_tflite

const TFLMRegistration* attend_tflm_scaled_dot_product_attention() { return &attend_tflite::sdpa_registration; }
const TFLMRegistration* attend_tflm_update_kv_cache() { return &attend_tflite::update_registration; }
