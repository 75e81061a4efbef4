// The loop of an attend_layer over its tokens: that of include/attend/detail/layer_blocks.h, which typed calls share.
#pragma once

#include "layers.h"

#include "../../include/attend/detail/layer_blocks.h"

namespace attend {
namespace c_surface {

// The matrix of a layer as a LayerCall requires it.
struct LayerMatrix {
  template <bool one_token>
  void project(const float* from, int tokens, float* to, float* work) const {
    c_surface::project(weights, from, tokens, to, work);
  }
  const attend_weights& weights;
};
struct RunTimeLayer {
  RunTimeLayer(const attend_layer& layer, const core::Problem& heads)
      : steps(layer),
        extents(heads),
        query{layer.query},
        key{layer.key},
        value{layer.value},
        output{layer.output},
        width(layer.query.inputs),
        memory_width(layer.key.inputs),
        output_width(layer.output.outputs) {}

  void prepare_queries(float* tokens, int position, int count) const {
    prepare(tokens, position, count, extents.query_heads, steps.query_norm);
  }
  void prepare_keys(float* tokens, int position, int count) const {
    prepare(tokens, position, count, extents.kv_heads, steps.key_norm);
  }
  void prepare(float* tokens, int position, int count, int heads, const float* norm) const {
    const int dim = extents.head_dim;
    if (norm != nullptr) core::rms_norm({tokens, dim, tokens, dim, norm, nullptr, count * heads, dim, steps.epsilon});
    if (steps.rotary == nullptr) return;
    const core::Rotation rotation = rotation_of(*steps.rotary, tokens, heads, dim);
    core::rotate_at(rotation, steps.rotary->turns, position, count, ptrdiff_t(heads) * dim);
  }

  const attend_layer& steps;
  const core::Problem& extents;  // heads and widths
  LayerMatrix query, key, value, output;
  ptrdiff_t width, memory_width, output_width;
};
struct RunTimePlaces {
  static constexpr bool one_token = false;
  detail::LayerMemory memory;
};

// The keys and values of a layer: a cache, which tokens of the call are appended to or not; or, without one, arrays in work
// memory.
struct Kept {
  template <class LayerCall>
  void fill(const LayerCall& call, int tokens) const {
    if (appends || cache == nullptr) call.store(call.x, tokens);
  }
  float* keys_at(float* work, int first) const { return cache != nullptr ? work : arrays.keys_at(work, first); }
  float* values_at(float* work, int first) const { return cache != nullptr ? work : arrays.values_at(work, first); }
  void store(const float* keys, const float* values, int count) const {
    if (cache == nullptr) return;
    append(*cache, count, {keys, arrays.keys.token_stride, arrays.keys.head_stride},
           {values, arrays.values.token_stride, arrays.values.head_stride});
  }
  attend_cache* cache;
  bool appends;
  detail::KeptArrays arrays;  // with a cache, how new tokens lie
};
using LayerCall = detail::LayerCall<RunTimeLayer, RunTimePlaces, Kept>;

inline detail::KeptArrays arrays_at(float* keys, float* values, const core::Problem& extents) {
  return {{keys, ptrdiff_t(extents.kv_heads) * extents.head_dim, extents.head_dim},
          {values, ptrdiff_t(extents.kv_heads) * extents.value_dim, extents.value_dim}};
}

}  // namespace c_surface
}  // namespace attend
