#include "gpt2.h"

#include <cstddef>

#include "attend/layers/core_layer.h"

namespace app {
namespace {

std::size_t extent(int number) { return static_cast<std::size_t>(number); }

void project(const Gpt2Projection& projection, const float* input, float* output) {
  app::project(projection.matrix, input, output, projection.bias);
}

}  // namespace

Gpt2Checkpoint packed(const Gpt2Checkpoint& checkpoint) {
  Gpt2Checkpoint result = checkpoint;
  Gpt2Weights& weights = result.weights;
  for (Gpt2Layer& layer : weights.layers) {
    for (Gpt2Projection Gpt2Layer::*const projection : gpt2_projections) pack((layer.*projection).matrix, result.storage);
  }
  pack(weights.classifier, result.storage);
  // Otherwise single rows are read of it, where it lies, as of the positions.
  if (checkpoint.config.shared_classifier) weights.token_embedding = weights.classifier;
  return result;
}

Gpt2::Gpt2(const Gpt2Checkpoint& checkpoint, int capacity)
    : config_(checkpoint.config),
      weights_(checkpoint.weights),
      attention_(config_.layers, config_.heads, config_.heads, config_.head_dim(), capacity) {
  for (AlignedFloats* array : {&stream_, &normed_, &attended_, &update_}) *array = aligned_floats(extent(config_.dim));
  query_key_value_ = aligned_floats(3 * extent(config_.dim));
  hidden_ = aligned_floats(extent(config_.hidden_dim));
  logits_.resize(extent(config_.vocab_size));
}

void Gpt2::advance(int token) {
  read_row(weights_.token_embedding, token, stream_.get());
  read_row(weights_.position_embedding, length_, update_.get());
  add_update();
  for (int layer = 0; layer < config_.layers; ++layer) {
    attend_layer(layer);
    feed_forward(weights_.layers[extent(layer)]);
  }
  ++length_;
}

// normed = (stream - mean) / standard deviation * gain + bias
void Gpt2::normalise(const Gpt2Norm& norm) {
  attend::core::layer_norm(
      {stream_.get(), config_.dim, normed_.get(), config_.dim, norm.gain, norm.bias, 1, config_.dim, config_.norm_epsilon});
}

void Gpt2::add_update() { attend::core::add(update_.get(), 1.0f, config_.dim, stream_.get()); }

// stream += output(attention(query, keys, values)), of the normalised stream
void Gpt2::attend_layer(int index) {
  const Gpt2Layer& layer = weights_.layers[extent(index)];
  normalise(layer.attention_norm);
  project(layer.query_key_value, normed_.get(), query_key_value_.get());
  const float *const query = query_key_value_.get(), *const key = query + config_.dim, *const value = key + config_.dim;
  attention_.run(index, length_, query, key, value, attended_.get());
  project(layer.output, attended_.get(), update_.get());
  add_update();
}

// stream += down(gelu(up x)), x the normalised stream
void Gpt2::feed_forward(const Gpt2Layer& layer) {
  normalise(layer.feed_norm);
  project(layer.up, normed_.get(), hidden_.get());
  attend::core::activate<attend::Activation::gelu_tanh>(hidden_.get(), nullptr, config_.hidden_dim, hidden_.get());
  project(layer.down, hidden_.get(), update_.get());
  add_update();
}

const std::vector<float>& Gpt2::logits() {
  normalise(weights_.final_norm);
  app::project(weights_.classifier, normed_.get(), logits_.data());
  return logits_;
}

}  // namespace app
