// The Llama transformer with its attention and all of its projections in integers of 8 bits, one token at a time. The residual
// stream, normalisation, rotary positions and the gate of the feed-forward block stay floats, one vector each.
//
//   normed -> int8 -> query, key: sums of 32 bits -> floats, turned -> int8 -> attention -> int8 -> output: sums -> stream
//                  -> value: int8
#pragma once

#include <vector>

#include "attend/core/integer.h"
#include "attend/layers/core_linear.h"
#include "checkpoint.h"
#include "integer_scales.h"
#include "language_model.h"

namespace app {

class IntegerLlama : public LanguageModel {
 public:
  // Room for capacity tokens, 1 … seq_len. The checkpoint must outlive this; its matrices have 8 bits and lie in rows, and
  // there are scales for each layer.
  IntegerLlama(const Checkpoint& checkpoint, const IntegerScales& scales, int capacity);

  int length() const override { return length_; }
  void restart() override { length_ = 0; }
  void advance(int token) override;
  const std::vector<float>& logits() override;

 private:
  struct LayerState {
    std::vector<std::int8_t> keys, values;                           // [capacity][kv_heads][head_dim]
    std::vector<attend::core::ScoreScale> score_scales;              // [heads]
    std::vector<attend::core::OutputScale> output_scales;            // [heads]
    std::vector<attend::core::IntegerMultiplier> value_multipliers;  // [kv_dim]
  };

  LayerState layer_state(const Layer& layer, const LayerScales& scales) const;
  void attend_layer(int index);
  void run_attention(LayerState& state);
  void feed_forward(const Layer& layer);
  void normalise(const float* gain);
  void rotate(std::vector<float>& heads) const;
  void quantise_heads(const std::vector<float>& heads, const float* scales, std::int8_t* numbers) const;

  // output = matrix * numbers_, whose scale is `scale`.
  void project(const Matrix& matrix, float scale, float* output);

  const Config config_;
  const Weights weights_;
  const IntegerScales scales_;
  const int capacity_;
  int length_ = 0;
  int row_block_, key_block_;
  std::vector<LayerState> states_;  // [layers]
  AlignedFloats scratch_;
  std::vector<float> stream_, normed_, query_, key_, update_, gate_, up_;
  std::vector<std::int8_t> numbers_;    // input of a projection
  std::vector<std::int8_t> queries_;    // [heads][head_dim]
  std::vector<std::int32_t> sums_;      // output of a projection
  std::vector<std::uint64_t> turns_;    // [head_dim / 2], of rotary positions
  std::vector<float> cosines_, sines_;  // [head_dim / 2], of the current position
  std::vector<float> logits_;           // [vocab_size]
};

}  // namespace app
