// The custom operators of TensorFlow Lite that keep keys and values: odml.update_kv_cache, whose cache is its own, and
// odml.update_external_kv_cache, whose caches are tensors of the model.
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "attend_tflite.h"
#include "kv_cache.h"
#include "nodes.h"

namespace attend_tflite {
namespace {

// The keys and values of a layer belong to all nodes of an interpreter that name it: models have one graph for a prompt and one
// for single tokens, which share them. What the graphs of an interpreter have in common is its external context for processors.
struct LayerCache {
  attend_adapter::Memory keys, values;
  std::int64_t first = 0;
  CacheUpdate update{};
};

class LayerCaches {
 public:
  static std::shared_ptr<LayerCache> of(const void* interpreter, int layer) {
    static LayerCaches caches;
    const std::lock_guard<std::mutex> lock(caches.mutex_);
    std::weak_ptr<LayerCache>& known = caches.of_layers_[{interpreter, layer}];
    std::shared_ptr<LayerCache> cache = known.lock();
    if (cache == nullptr) known = cache = std::make_shared<LayerCache>();
    return cache;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const void*, int>, std::weak_ptr<LayerCache>> of_layers_;
};

struct Update {
  Refusal refused;
  CacheAttributes attributes;
  CacheUpdate update{};
  std::shared_ptr<LayerCache> cache;  // of odml.update_kv_cache, from the first Prepare on
};

void* update_init(TfLiteContext*, const char* buffer, std::size_t length) {
  Update* const node = new (std::nothrow) Update;
  if (node != nullptr) node->refused = read(buffer, length, node->attributes);
  return node;
}

// The cache of the node's layer, empty where its extents are new.
Refusal prepare_cache(TfLiteContext* context, Update& update) {
  try {
    const void* interpreter =
        context->GetExternalContext == nullptr ? nullptr : context->GetExternalContext(context, kTfLiteCpuBackendContext);
    if (interpreter == nullptr) interpreter = context;
    if (update.cache == nullptr) update.cache = LayerCaches::of(interpreter, update.attributes.layer_index);
  } catch (...) {
    return no_memory;
  }
  LayerCache& cache = *update.cache;
  const CacheUpdate& now = update.update;
  const CacheUpdate& before = cache.update;
  if (before.places == now.places && before.token_bytes == now.token_bytes && before.zero_key == now.zero_key &&
      before.zero_value == now.zero_value)
    return {};
  if (before.places != 0 && update.cache.use_count() > 1)
    return {"layer_index", "another node of this layer has a cache of other extents"};
  char *const keys = cache.keys.numbers<char>(now.bytes()), *const values = cache.values.numbers<char>(now.bytes());
  if (now.bytes() > 0 && (keys == nullptr || values == nullptr)) return no_memory;
  cache.update = now;
  if (now.bytes() > 0) empty(now, {keys, values, &cache.first});
  return {};
}

TfLiteStatus update_prepare(TfLiteContext* context, TfLiteNode* node) {
  Update* const update = static_cast<Update*>(node->user_data);
  const auto prepare = [&]() -> Refusal {
    if (update == nullptr) return no_memory;
    if (update->refused) return update->refused;
    if (inputs(*node) != 3) return {"inputs", "position, key and value are needed"};
    if (outputs(*node) != 2) return {"outputs", "there are two"};
    const TfLiteTensor *const position = input(context, *node, 0), *const key = input(context, *node, 1),
                              *const value = input(context, *node, 2);
    TfLiteTensor *const keys = output(context, *node, 0), *const values = output(context, *node, 1);
    if (position == nullptr || key == nullptr || value == nullptr || keys == nullptr || values == nullptr)
      return {"inputs", "one is missing"};
    int dims[4];
    Refusal refused =
        prepare_update(update->attributes.kv_cache_max, *position, *key, *value, *keys, *values, update->update, dims);
    if (!refused) refused = prepare_cache(context, *update);
    if (refused) return refused;
    // The outputs are the cache itself.
    keys->allocation_type = values->allocation_type = kTfLiteCustom;
    keys->data.raw = update->cache->keys.numbers<char>(update->update.bytes());
    values->data.raw = update->cache->values.numbers<char>(update->update.bytes());
    refused = resize(context, keys, dims);
    return refused ? refused : resize(context, values, dims);
  };
  return answer(context, update_kv_cache_name, prepare());
}

TfLiteStatus update_invoke(TfLiteContext* context, TfLiteNode* node) {
  Update* const update = static_cast<Update*>(node->user_data);
  const CacheContents contents = {output(context, *node, 0)->data.raw, output(context, *node, 1)->data.raw,
                                  &update->cache->first};
  return answer(context, update_kv_cache_name,
                put(update->update, input(context, *node, 0)->data.raw, input(context, *node, 1)->data.raw,
                    input(context, *node, 2)->data.raw, contents));
}

void update_free(TfLiteContext*, void* node) { delete static_cast<Update*>(node); }

// Keys and values of another's: keys, values, position, key, value.
TfLiteStatus external_prepare(TfLiteContext* context, TfLiteNode* node) {
  Update* const update = static_cast<Update*>(node->user_data);
  const auto prepare = [&]() -> Refusal {
    if (update == nullptr) return no_memory;
    if (update->refused) return update->refused;
    if (inputs(*node) != 5) return {"inputs", "keys, values, position, key and value are needed"};
    if (outputs(*node) != 2) return {"outputs", "there are two"};
    const TfLiteTensor* in[5];
    for (int i = 0; i < 5; ++i) {
      in[i] = input(context, *node, i);
      if (in[i] == nullptr) return {"inputs", "one is missing"};
    }
    TfLiteTensor *const keys = output(context, *node, 0), *const values = output(context, *node, 1);
    if (keys == nullptr || values == nullptr) return {"outputs", "one is missing"};
    if (!has_four_axes(*in[0], sizeof(float)) || dim(*in[0], 1) < 1)
      return {"keys", "four axes are needed: batch, tokens, heads and head_dim"};
    if (in[0]->type != in[3]->type || in[1]->type != in[3]->type) return {"keys", "its type is not that of the key"};
    int dims[4];
    Refusal refused = prepare_update(dim(*in[0], 1), *in[2], *in[3], *in[4], *keys, *values, update->update, dims);
    if (refused) return refused;
    for (int axis = 0; axis < 4; ++axis) {
      if (dim(*in[0], axis) != dims[axis]) return {"keys", "its heads are not those of the key"};
    }
    if (!same_shape(*in[0], *in[1])) return {"values", "its shape is not that of keys"};
    if (in[0]->type == kTfLiteInt8 && !(same_scale(*in[0], *keys) && same_scale(*in[1], *values)))
      return {"keys", "its scale or zero point is not the output's"};
    refused = resize(context, keys, dims);
    return refused ? refused : resize(context, values, dims);
  };
  return answer(context, update_external_kv_cache_name, prepare());
}

TfLiteStatus external_invoke(TfLiteContext* context, TfLiteNode* node) {
  const CacheUpdate& update = static_cast<Update*>(node->user_data)->update;
  const char* in[5];
  for (int i = 0; i < 5; ++i) in[i] = input(context, *node, i)->data.raw;
  char *const keys = output(context, *node, 0)->data.raw, *const values = output(context, *node, 1)->data.raw;
  if (update.bytes() > 0 && keys != in[0]) std::memcpy(keys, in[0], update.bytes());
  if (update.bytes() > 0 && values != in[1]) std::memcpy(values, in[1], update.bytes());
  return answer(context, update_external_kv_cache_name, put_each(update, in[2], in[3], in[4], keys, values));
}

}  // namespace
}  // namespace attend_tflite

using namespace attend_tflite;

TfLiteRegistration* attend_tflite_update_kv_cache(void) {
  static TfLiteRegistration made = registration(update_kv_cache_name, update_init, update_free, update_prepare, update_invoke);
  return &made;
}

TfLiteRegistration* attend_tflite_update_external_kv_cache(void) {
  static TfLiteRegistration made =
      registration(update_external_kv_cache_name, update_init, update_free, external_prepare, external_invoke);
  return &made;
}
