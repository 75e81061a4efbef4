// All operators. A new one gets a name here, and the compiler asks for the rest.
#pragma once

#include "operator.h"

namespace attend_adapter::onnx {

enum class Name {
  matmul,
  fused_matmul,
  gemm,
  softmax,
  flat_softmax,
  layer_normalization,
  simplified_layer_normalization,
  rms_normalization,
  skip_layer_normalization,
  skip_simplified_layer_normalization,
  embed_layer_normalization,
  erf,
  exp,
  tanh,
  sigmoid,
  gelu,
  swish,
  bias_gelu,
  fast_gelu,
  quick_gelu,
  reduce_sum,
  reduce_mean,
  reduce_sum_square,
  reduce_l2,
  attention,
  multi_head_attention,
  packed_attention,
  group_query_attention,
  rotary_embedding,
  runtime_rotary_embedding,
  dynamic_quantize_linear,
  matmul_integer,
  dynamic_quantize_matmul,
  matmul_integer_to_float,
  end
};

const Definition& matmul();
const Definition& fused_matmul();
const Definition& gemm();
const Definition& softmax();
const Definition& flat_softmax();
const Definition& layer_normalization();
const Definition& simplified_layer_normalization();
const Definition& rms_normalization();
const Definition& skip_layer_normalization();
const Definition& skip_simplified_layer_normalization();
const Definition& embed_layer_normalization();
const Definition& erf();
const Definition& exp();
const Definition& tanh();
const Definition& sigmoid();
const Definition& gelu();
const Definition& swish();
const Definition& bias_gelu();
const Definition& fast_gelu();
const Definition& quick_gelu();
const Definition& reduce_sum();
const Definition& reduce_mean();
const Definition& reduce_sum_square();
const Definition& reduce_l2();
const Definition& attention();
const Definition& multi_head_attention();
const Definition& packed_attention();
const Definition& group_query_attention();
const Definition& rotary_embedding();
const Definition& runtime_rotary_embedding();
const Definition& dynamic_quantize_linear();
const Definition& matmul_integer();
const Definition& dynamic_quantize_matmul();
const Definition& matmul_integer_to_float();

inline const Definition& definition(Name name) {
  switch (name) {
    case Name::matmul:
      return matmul();
    case Name::fused_matmul:
      return fused_matmul();
    case Name::gemm:
      return gemm();
    case Name::softmax:
      return softmax();
    case Name::flat_softmax:
      return flat_softmax();
    case Name::layer_normalization:
      return layer_normalization();
    case Name::simplified_layer_normalization:
      return simplified_layer_normalization();
    case Name::rms_normalization:
      return rms_normalization();
    case Name::skip_layer_normalization:
      return skip_layer_normalization();
    case Name::skip_simplified_layer_normalization:
      return skip_simplified_layer_normalization();
    case Name::embed_layer_normalization:
      return embed_layer_normalization();
    case Name::erf:
      return erf();
    case Name::exp:
      return exp();
    case Name::tanh:
      return tanh();
    case Name::sigmoid:
      return sigmoid();
    case Name::gelu:
      return gelu();
    case Name::swish:
      return swish();
    case Name::bias_gelu:
      return bias_gelu();
    case Name::fast_gelu:
      return fast_gelu();
    case Name::quick_gelu:
      return quick_gelu();
    case Name::reduce_sum:
      return reduce_sum();
    case Name::reduce_mean:
      return reduce_mean();
    case Name::reduce_sum_square:
      return reduce_sum_square();
    case Name::reduce_l2:
      return reduce_l2();
    case Name::attention:
      return attention();
    case Name::multi_head_attention:
      return multi_head_attention();
    case Name::packed_attention:
      return packed_attention();
    case Name::group_query_attention:
      return group_query_attention();
    case Name::rotary_embedding:
      return rotary_embedding();
    case Name::runtime_rotary_embedding:
      return runtime_rotary_embedding();
    case Name::dynamic_quantize_linear:
      return dynamic_quantize_linear();
    case Name::matmul_integer:
      return matmul_integer();
    case Name::dynamic_quantize_matmul:
      return dynamic_quantize_matmul();
    case Name::matmul_integer_to_float:
      return matmul_integer_to_float();
    case Name::end:
      break;
  }
  return matmul();
}

// Calls use(definition) for each.
template <class Use>
void for_each_operator(const Use& use) {
  for (int name = 0; name < int(Name::end); ++name) use(definition(Name(name)));
}

}  // namespace attend_adapter::onnx
