// The Llama transformer, one token at a time. The library computes all of it, with a key/value cache for each layer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attend/core/attention.h"
#include "checkpoint.h"
#include "language_model.h"

namespace app {

// Computes the attention of one token in one layer.
using LayerAttention = std::function<void(int layer, const attend::core::Problem& problem)>;

// What the attention of one token in one layer is computed from, and its result.
struct LayerActivations {
  const float* input;        // [dim], the normalised stream
  const float* query;        // [heads][head_dim], rotated
  const float *key, *value;  // [kv_heads][head_dim], keys rotated
  const float* attended;     // [heads][head_dim]
};
using LayerObserver = std::function<void(int layer, const LayerActivations& activations)>;

class Llama : public LanguageModel {
 public:
  // Room for capacity tokens, 1 … seq_len. The checkpoint must outlive this.
  Llama(const Checkpoint& checkpoint, int capacity);

  int length() const override { return length_; }
  int capacity() const { return capacity_; }

  // From here on calls this in the place of the library's plain attention. The problem's scratch memory is enough for options.
  void attend_with(LayerAttention attention);

  // From here on calls this for every token and layer.
  void observe_with(LayerObserver observer) { observer_ = std::move(observer); }

  void restart() override { length_ = 0; }
  void advance(int token) override;
  const std::vector<float>& logits() override;

 private:
  struct LayerCache {
    AlignedFloats keys;    // [kv_heads][panels][head_dim][panel_keys]
    AlignedFloats values;  // [kv_heads][capacity][head_dim]
  };

  void attend_layer(int index);
  void feed_forward(const Layer& layer);
  void normalise(const float* gain);
  void rotate(float* heads, int count) const;

  const Config config_;
  const Weights weights_;
  const int capacity_;
  LayerAttention attention_;
  LayerObserver observer_;
  int length_ = 0;
  int row_block_;  // query rows and keys that one pass of the library takes
  int key_block_;
  float scale_;                     // of the scores
  std::vector<LayerCache> caches_;  // [layers]
  AlignedFloats scratch_;
  AlignedFloats stream_;                // [dim], the residual stream
  AlignedFloats normed_;                // [dim]
  AlignedFloats query_;                 // [heads][head_dim]
  AlignedFloats key_, value_;           // [kv_heads][head_dim]
  AlignedFloats attended_;              // [heads][head_dim]
  AlignedFloats update_;                // [dim], what a layer adds to the stream
  AlignedFloats gate_, up_;             // [hidden_dim]
  std::vector<std::uint64_t> turns_;    // [head_dim / 2], of rotary positions
  std::vector<float> cosines_, sines_;  // [head_dim / 2], of the current position
  std::vector<float> logits_;           // [vocab_size]
};

}  // namespace app
