// The Llama transformer, one token at a time. The library computes all of it, with a key/value cache for each layer.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "cached_attention.h"
#include "checkpoint.h"
#include "language_model.h"

namespace app {

// What the attention of one token in one layer is computed from, and its result.
struct LayerActivations {
  const float* input;        // [dim], the normalised stream
  const float* query;        // [heads][head_dim], rotated
  const float *key, *value;  // [kv_heads][head_dim], keys rotated
  const float* attended;     // [heads][head_dim]
};
using LayerObserver = std::function<void(int layer, const LayerActivations& activations)>;

// By how much each pair of numbers of a head turns from one position to the next: [head_dim / 2].
std::vector<std::uint64_t> rotary_turns(const Config& config, const Weights& weights);

class Llama : public LanguageModel {
 public:
  // Room for capacity tokens, 1 … seq_len. The checkpoint must outlive this.
  Llama(const Checkpoint& checkpoint, int capacity);

  int length() const override { return length_; }
  int capacity() const { return attention_.capacity(); }

  // As CachedAttention's.
  void attend_with(LayerAttention attention) { attention_.attend_with(std::move(attention)); }

  // From here on calls this for every token and layer.
  void observe_with(LayerObserver observer) { observer_ = std::move(observer); }

  void restart() override { length_ = 0; }
  void advance(int token) override;
  const std::vector<float>& logits() override;

 private:
  void attend_layer(int index);
  void feed_forward(const Layer& layer);
  void normalise(const float* gain);
  void rotate(float* heads, int count) const;

  const Config config_;
  const Weights weights_;
  CachedAttention attention_;
  LayerObserver observer_;
  int length_ = 0;
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
