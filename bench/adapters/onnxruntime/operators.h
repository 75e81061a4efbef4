// All operators. A new one gets a name here, twice, and the linker asks for the rest.
#pragma once

#include "operator.h"

namespace attend_adapter::onnx {

namespace operators {

extern const Definition matmul, fused_matmul, gemm, softmax, flat_softmax, layer_normalization, simplified_layer_normalization,
    rms_normalization, skip_layer_normalization, skip_simplified_layer_normalization, embed_layer_normalization, erf, exp, tanh,
    sigmoid, gelu, swish, bias_gelu, fast_gelu, quick_gelu, reduce_sum, reduce_mean, reduce_sum_square, reduce_l2, attention,
    multi_head_attention, packed_attention, group_query_attention, rotary_embedding, runtime_rotary_embedding,
    dynamic_quantize_linear, matmul_integer, dynamic_quantize_matmul, matmul_integer_to_float, linear_attention, causal_conv;

inline constexpr const Definition* all[] = {&matmul,
                                            &fused_matmul,
                                            &gemm,
                                            &softmax,
                                            &flat_softmax,
                                            &layer_normalization,
                                            &simplified_layer_normalization,
                                            &rms_normalization,
                                            &skip_layer_normalization,
                                            &skip_simplified_layer_normalization,
                                            &embed_layer_normalization,
                                            &erf,
                                            &exp,
                                            &tanh,
                                            &sigmoid,
                                            &gelu,
                                            &swish,
                                            &bias_gelu,
                                            &fast_gelu,
                                            &quick_gelu,
                                            &reduce_sum,
                                            &reduce_mean,
                                            &reduce_sum_square,
                                            &reduce_l2,
                                            &attention,
                                            &multi_head_attention,
                                            &packed_attention,
                                            &group_query_attention,
                                            &rotary_embedding,
                                            &runtime_rotary_embedding,
                                            &dynamic_quantize_linear,
                                            &matmul_integer,
                                            &dynamic_quantize_matmul,
                                            &matmul_integer_to_float,
                                            &linear_attention,
                                            &causal_conv};

}  // namespace operators

// Calls use(definition) for each.
template <class Use>
void for_each_operator(const Use& use) {
  for (const Definition* const each : operators::all) use(*each);
}

}  // namespace attend_adapter::onnx
