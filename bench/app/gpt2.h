// The GPT-2 transformer, one token at a time. The library computes all of it, with a key/value cache for each layer.
#pragma once

#include <memory>
#include <vector>

#include "cached_attention.h"
#include "language_model.h"
#include "matrix.h"

namespace app {

// Every extent is 1 … 2^24; heads divides dim.
struct Gpt2Config {
  int dim;
  int hidden_dim;
  int layers;
  int heads;
  int vocab_size;
  int seq_len;             // tokens of context
  bool shared_classifier;  // the classifier is the token embedding
  float norm_epsilon;

  int head_dim() const { return dim / heads; }
};

struct Gpt2Norm {
  const float *gain, *bias;  // [dim]
};

struct Gpt2Projection {
  Matrix matrix;
  const float* bias;  // [matrix.outputs]
};

struct Gpt2Layer {
  Gpt2Norm attention_norm;
  Gpt2Projection query_key_value;  // [3][dim][dim]
  Gpt2Projection output;           // [dim][dim]
  Gpt2Norm feed_norm;
  Gpt2Projection up;    // [hidden_dim][dim]
  Gpt2Projection down;  // [dim][hidden_dim]
};

// All matrices of a layer.
constexpr Gpt2Projection Gpt2Layer::*gpt2_projections[] = {&Gpt2Layer::query_key_value, &Gpt2Layer::output, &Gpt2Layer::up,
                                                           &Gpt2Layer::down};

struct Gpt2Weights {
  Matrix token_embedding;     // [vocab_size][dim]
  Matrix position_embedding;  // [seq_len][dim]
  std::vector<Gpt2Layer> layers;
  Gpt2Norm final_norm;
  Matrix classifier;  // [vocab_size][dim]
};

struct Gpt2Checkpoint {
  Gpt2Config config;
  Gpt2Weights weights;  // in storage
  std::vector<std::shared_ptr<const void>> storage;
};

// The same with its matrices packed, as hosts compute fastest.
Gpt2Checkpoint packed(const Gpt2Checkpoint& checkpoint);

class Gpt2 : public LanguageModel {
 public:
  // Room for capacity tokens, 1 … seq_len. The checkpoint must outlive this.
  Gpt2(const Gpt2Checkpoint& checkpoint, int capacity);

  int length() const override { return length_; }
  void restart() override { length_ = 0; }
  void advance(int token) override;
  const std::vector<float>& logits() override;

 private:
  void attend_layer(int index);
  void feed_forward(const Gpt2Layer& layer);
  void normalise(const Gpt2Norm& norm);
  void add_update();

  const Gpt2Config config_;
  const Gpt2Weights weights_;
  CachedAttention attention_;
  int length_ = 0;
  AlignedFloats stream_;           // [dim], the residual stream
  AlignedFloats normed_;           // [dim]
  AlignedFloats query_key_value_;  // [3][heads][head_dim]
  AlignedFloats attended_;         // [heads][head_dim]
  AlignedFloats update_;           // [dim], what a layer adds to the stream, or the embedding of a position
  AlignedFloats hidden_;           // [hidden_dim]
  std::vector<float> logits_;      // [vocab_size]
};

}  // namespace app
