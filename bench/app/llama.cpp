#include "llama.h"

#include "attend/layers/core_layer.h"

namespace app {
namespace {

std::size_t extent(int number) { return static_cast<std::size_t>(number); }

}  // namespace

std::vector<std::uint64_t> rotary_turns(const Config& config, const Weights& weights) {
  const int pairs = config.head_dim() / 2;
  std::vector<std::uint64_t> turns(extent(pairs));
  attend::core::rotary_turns(config.rotation_base, config.rotation_factor, pairs, turns.data());
  if (weights.rotation_factors != nullptr) {
    attend::core::RotaryScaling scaling{};
    scaling.kind = attend::core::RotaryKind::long_rope;
    scaling.factors = weights.rotation_factors;
    scaling.turning = pairs;
    scaling.attention_factor = 1.0f;
    attend::core::scale_turns(scaling, config.rotation_base, pairs, turns.data());
  }
  return turns;
}

Llama::Llama(const Checkpoint& checkpoint, int capacity)
    : config_(checkpoint.config),
      weights_(checkpoint.weights),
      attention_(config_.layers, config_.heads, config_.kv_heads, config_.head_dim(), capacity) {
  for (AlignedFloats* array : {&stream_, &normed_, &query_, &attended_, &update_}) *array = aligned_floats(extent(config_.dim));
  for (AlignedFloats* array : {&key_, &value_}) *array = aligned_floats(extent(config_.kv_dim()));
  for (AlignedFloats* array : {&gate_, &up_}) *array = aligned_floats(extent(config_.hidden_dim));
  turns_ = rotary_turns(config_, weights_);
  for (std::vector<float>* array : {&cosines_, &sines_}) array->resize(turns_.size());
  logits_.resize(extent(config_.vocab_size));
}

void Llama::advance(int token) {
  read_row(weights_.token_embedding, token, stream_.get());
  attend::core::rotary_angles({turns_.data(), 1.0f}, config_.head_dim() / 2, length_, cosines_.data(), sines_.data());
  for (int layer = 0; layer < config_.layers; ++layer) {
    attend_layer(layer);
    feed_forward(weights_.layers[extent(layer)]);
  }
  ++length_;
}

// normed = stream / root mean square of it * gain
void Llama::normalise(const float* gain) {
  attend::core::rms_norm(
      {stream_.get(), config_.dim, normed_.get(), config_.dim, gain, nullptr, 1, config_.dim, config_.norm_epsilon});
}

// Turns every pair (2i, 2i + 1) of every head by the angle of pair i.
void Llama::rotate(float* heads, int count) const {
  const int head_dim = config_.head_dim();
  attend::core::rotate({heads, head_dim, count, head_dim / 2, 1, cosines_.data(), sines_.data()});
}

// stream += output(attention(query, keys, values)), of the normalised stream
void Llama::attend_layer(int index) {
  const Layer& layer = weights_.layers[extent(index)];
  normalise(layer.attention_norm);
  project(layer.query, normed_.get(), query_.get());
  project(layer.key, normed_.get(), key_.get());
  project(layer.value, normed_.get(), value_.get());
  rotate(query_.get(), config_.heads);
  rotate(key_.get(), config_.kv_heads);
  attention_.run(index, length_, query_.get(), key_.get(), value_.get(), attended_.get());
  if (observer_) observer_(index, {normed_.get(), query_.get(), key_.get(), value_.get(), attended_.get()});
  project(layer.output, attended_.get(), update_.get());
  attend::core::add(update_.get(), 1.0f, config_.dim, stream_.get());
}

// stream += down(silu(gate x) * (up x)), x the normalised stream
void Llama::feed_forward(const Layer& layer) {
  normalise(layer.feed_norm);
  project(layer.gate, normed_.get(), gate_.get());
  project(layer.up, normed_.get(), up_.get());
  attend::core::activate<attend::Activation::silu>(gate_.get(), up_.get(), config_.hidden_dim, gate_.get());
  project(layer.down, gate_.get(), update_.get());
  attend::core::add(update_.get(), 1.0f, config_.dim, stream_.get());
}

const std::vector<float>& Llama::logits() {
  normalise(weights_.final_norm);
  project(weights_.classifier, normed_.get(), logits_.data());
  return logits_;
}

}  // namespace app
