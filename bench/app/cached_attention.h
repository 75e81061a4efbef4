// Attention of one token at a time in every layer of a model, with the library's cache of keys and values for each.
#pragma once

#include <functional>
#include <vector>

#include "attend/core/attention.h"
#include "matrix.h"

namespace app {

// Computes the attention of one token in one layer.
using LayerAttention = std::function<void(int layer, const attend::core::Problem& problem)>;

class CachedAttention {
 public:
  // kv_heads divides heads; room for capacity tokens.
  CachedAttention(int layers, int heads, int kv_heads, int head_dim, int capacity);

  int capacity() const { return capacity_; }

  // From here on calls this in the place of the library's plain attention. The problem's scratch memory is enough for options.
  void attend_with(LayerAttention attention);

  // Takes the keys and values of the token at a position, [kv_heads][head_dim], into a layer's cache, and computes its
  // attention to all tokens up to there, [heads][head_dim].
  void run(int layer, int position, const float* query, const float* key, const float* value, float* attended);

 private:
  struct LayerCache {
    AlignedFloats keys;    // [kv_heads][panels][head_dim][panel_keys]
    AlignedFloats values;  // [kv_heads][capacity][head_dim]
  };

  const int heads_, kv_heads_, head_dim_, capacity_;
  int row_block_;  // query rows and keys that one pass of the library takes
  int key_block_;
  float scale_;  // of the scores
  LayerAttention attention_;
  std::vector<LayerCache> caches_;  // [layers]
  AlignedFloats scratch_;
};

}  // namespace app
