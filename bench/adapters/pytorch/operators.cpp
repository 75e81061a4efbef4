// Operators of PyTorch's dispatcher, torch.ops.attend.*, for tensors in the memory of the processor and for the device "meta",
// which has shapes alone. They compute inference: a tensor that requires a gradient is refused.
#include "attention.h"
#include "rows.h"

#include "../common/backend.h"

namespace attend_pytorch {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const OptionalTensor& attn_mask, double dropout_p, bool is_causal,
                                    c10::optional<double> scale, bool enable_gqa) {
  AttentionOptions options;
  options.name = "scaled_dot_product_attention";
  TORCH_CHECK(dropout_p == 0, "attend::", options.name, ": dropout_p is ", dropout_p,
              "; expected 0: Attend computes inference");
  options.is_causal = is_causal;
  options.scale = scale;
  options.grouped = enable_gqa;
  return std::get<0>(attention(query, key, value, attn_mask, options, false));
}

AttentionOptions all_options(const char* name, bool is_causal, c10::optional<double> scale, c10::optional<int64_t> offset,
                             double softcap, c10::optional<int64_t> window_left, c10::optional<int64_t> window_right,
                             const OptionalTensor& sinks) {
  AttentionOptions options;
  options.name = name;
  options.is_causal = is_causal;
  options.grouped = true;
  options.scale = scale;
  options.offset = offset;
  options.softcap = softcap;
  options.window_left = window_left;
  options.window_right = window_right;
  options.sinks = sinks;
  for (const auto& keys : {window_left, window_right}) {
    TORCH_CHECK(!keys.has_value() || *keys >= 0, "attend::", name, ": a window of ", *keys,
                " keys; expected 0 or more, or None for no limit");
  }
  return options;
}

Tensor grouped_attention(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& attn_mask,
                         bool is_causal, c10::optional<double> scale, c10::optional<int64_t> offset, double softcap,
                         c10::optional<int64_t> window_left, c10::optional<int64_t> window_right, const OptionalTensor& sinks) {
  const auto options = all_options("attention", is_causal, scale, offset, softcap, window_left, window_right, sinks);
  return std::get<0>(attention(query, key, value, attn_mask, options, false));
}

std::tuple<Tensor, Tensor> attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                                  const OptionalTensor& attn_mask, bool is_causal, c10::optional<double> scale,
                                                  c10::optional<int64_t> offset, double softcap,
                                                  c10::optional<int64_t> window_left, c10::optional<int64_t> window_right,
                                                  const OptionalTensor& sinks) {
  const auto options =
      all_options("attention_with_weights", is_causal, scale, offset, softcap, window_left, window_right, sinks);
  return attention(query, key, value, attn_mask, options, true);
}

}  // namespace attend_pytorch

TORCH_LIBRARY(attend, library) {
  if (!attend_adapter::use_backend_of_environment())
    TORCH_WARN("attend: this processor has no backend ATTEND_BACKEND=", std::getenv("ATTEND_BACKEND"));
  library.def(
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
      "is_causal=False, "
      "float? scale=None, bool enable_gqa=False) -> Tensor");
  library.def(
      "attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, bool is_causal=False, float? scale=None, int? "
      "offset=None, "
      "float softcap=0.0, int? window_left=None, int? window_right=None, Tensor? sinks=None) -> Tensor");
  library.def(
      "attention_with_weights(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, bool is_causal=False, float? "
      "scale=None, "
      "int? offset=None, float softcap=0.0, int? window_left=None, int? window_right=None, Tensor? sinks=None) -> (Tensor, "
      "Tensor)");
  library.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor");
  library.def("pack_weight(Tensor weight) -> Tensor");
  library.def("packed_linear(Tensor input, Tensor packed, int outputs, Tensor? bias=None) -> Tensor");
  library.def(
      "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor");
  library.def("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor");
  library.def("gelu(Tensor input, str approximate='none') -> Tensor");
  library.def("silu(Tensor input) -> Tensor");
  library.def("softmax(Tensor input, int dim, ScalarType? dtype=None) -> Tensor");
}

// The same functions for both: they give tensors of the right shape, and compute where there is memory.
void implement(torch::Library& library) {
  using namespace attend_pytorch;
  library.impl("scaled_dot_product_attention", TORCH_FN(scaled_dot_product_attention));
  library.impl("attention", TORCH_FN(grouped_attention));
  library.impl("attention_with_weights", TORCH_FN(attention_with_weights));
  library.impl("linear", TORCH_FN(linear));
  library.impl("pack_weight", TORCH_FN(pack_weight));
  library.impl("packed_linear", TORCH_FN(packed_linear));
  library.impl("layer_norm", TORCH_FN(layer_norm));
  library.impl("rms_norm", TORCH_FN(rms_norm));
  library.impl("gelu", TORCH_FN(gelu));
  library.impl("silu", TORCH_FN(silu));
  library.impl("softmax", TORCH_FN(softmax));
}

TORCH_LIBRARY_IMPL(attend, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(attend, Meta, library) { implement(library); }
TORCH_LIBRARY_IMPL(attend, AutogradMeta, library) { implement(library); }  // PyTorch 1 does not pass it on to Meta by itself
