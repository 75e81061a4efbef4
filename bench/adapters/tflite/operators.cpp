// The custom operator odml.scaled_dot_product_attention of TensorFlow Lite, and how a program is given all three.
#include <new>

#include "../common/backend.h"
#include "attend_tflite.h"
#include "nodes.h"
#include "sdpa.h"

extern "C" {
// The library has this function and its headers do not declare it. Weak: a program that holds the runtime in another form has
// it not.
__attribute__((weak)) void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions* options, const char* name,
                                                               const TfLiteRegistration* registration, int32_t min_version,
                                                               int32_t max_version);
}

namespace attend_tflite {
namespace {

struct Sdpa {
  Refusal refused;
  AttentionAttributes attributes;
  Attention attention;
  attend_adapter::Memory work, mask;
};

void* sdpa_init(TfLiteContext*, const char* buffer, std::size_t length) {
  Sdpa* const node = new (std::nothrow) Sdpa;
  if (node != nullptr) node->refused = read(buffer, length, node->attributes);
  return node;
}

TfLiteStatus sdpa_prepare(TfLiteContext* context, TfLiteNode* node) {
  Sdpa* const sdpa = static_cast<Sdpa*>(node->user_data);
  const auto prepare = [&]() -> Refusal {
    if (sdpa == nullptr) return no_memory;
    if (sdpa->refused) return sdpa->refused;
    if (inputs(*node) < 3 || inputs(*node) > 4) return {"inputs", "query, key and value are needed, and a mask may follow"};
    if (outputs(*node) != 1) return {"outputs", "there is one"};
    const TfLiteTensor *const query = input(context, *node, 0), *const key = input(context, *node, 1),
                              *const value = input(context, *node, 2);
    TfLiteTensor* const to = output(context, *node, 0);
    if (query == nullptr || key == nullptr || value == nullptr || to == nullptr)
      return {"inputs", "query, key, value or the output is missing"};
    int dims[4];
    std::size_t bytes = 0;
    const Refusal refused =
        prepare_sdpa(sdpa->attributes, *query, *key, *value, input(context, *node, 3), *to, sdpa->attention, dims, &bytes);
    if (refused) return refused;
    return resize(context, to, dims);
  };
  return answer(context, sdpa_name, prepare());
}

TfLiteStatus sdpa_invoke(TfLiteContext* context, TfLiteNode* node) {
  Sdpa* const sdpa = static_cast<Sdpa*>(node->user_data);
  const TfLiteTensor* const mask = input(context, *node, 3);
  return answer(context, sdpa_name,
                run(context, sdpa->attention, sdpa->work, sdpa->mask,
                    {input(context, *node, 0)->data.raw, input(context, *node, 1)->data.raw, input(context, *node, 2)->data.raw,
                     mask == nullptr ? nullptr : mask->data.raw, output(context, *node, 0)->data.raw, nullptr}));
}

void sdpa_free(TfLiteContext*, void* node) { delete static_cast<Sdpa*>(node); }

}  // namespace
}  // namespace attend_tflite

using namespace attend_tflite;

TfLiteRegistration* attend_tflite_scaled_dot_product_attention(void) {
  attend_adapter::use_backend_of_environment();
  static TfLiteRegistration made = registration(sdpa_name, sdpa_init, sdpa_free, sdpa_prepare, sdpa_invoke);
  return &made;
}

TfLiteStatus attend_tflite_register(TfLiteInterpreterOptions* options) {
  if (options == nullptr || TfLiteInterpreterOptionsAddCustomOp == nullptr) return kTfLiteError;
  for (TfLiteRegistration* made : {attend_tflite_scaled_dot_product_attention(), attend_tflite_update_kv_cache(),
                                   attend_tflite_update_external_kv_cache()}) {
    TfLiteInterpreterOptionsAddCustomOp(options, made->custom_name, made, 1, 1);
  }
  return kTfLiteOk;
}
