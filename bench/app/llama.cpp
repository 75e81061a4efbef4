#include "llama.h"

#include <algorithm>

#include "attend/attention.h"
#include "attend/core/layer.h"

namespace app {
namespace {

std::size_t extent(int number) { return static_cast<std::size_t>(number); }

}  // namespace

Llama::Llama(const Checkpoint& checkpoint, int capacity)
    : config_(checkpoint.config), weights_(checkpoint.weights), capacity_(capacity) {
  const int rows = attend::core::rows_per_kv_head(config_.heads, config_.kv_heads, 1);
  row_block_ = std::min(rows, attend::config::row_block);
  key_block_ = std::min(attend::core::whole_chains(capacity), attend::config::key_block);
  scale_ = attend::default_scale(config_.head_dim());
  const int head_dim = config_.head_dim();
  scratch_ = aligned_floats(attend::core::scratch_floats(row_block_, key_block_, head_dim, head_dim, capacity, true));
  caches_.resize(extent(config_.layers));
  const std::size_t key_floats = attend::core::cache_key_floats(config_.kv_heads, config_.head_dim(), capacity);
  for (LayerCache& cache : caches_) {
    cache.keys = aligned_floats(key_floats);
    // The library computes with whole panels before it drops the keys that are not there yet, which memory checkers dislike.
    std::fill_n(cache.keys.get(), key_floats, 0.0f);
    cache.values = aligned_floats(attend::core::cache_value_floats(config_.kv_heads, config_.head_dim(), capacity));
  }
  for (AlignedFloats* array : {&stream_, &normed_, &query_, &attended_, &update_}) *array = aligned_floats(extent(config_.dim));
  for (AlignedFloats* array : {&key_, &value_}) *array = aligned_floats(extent(config_.kv_dim()));
  for (AlignedFloats* array : {&gate_, &up_}) *array = aligned_floats(extent(config_.hidden_dim));
  const std::size_t pairs = extent(head_dim) / 2;
  turns_.resize(pairs);
  for (std::vector<float>* array : {&cosines_, &sines_}) array->resize(pairs);
  attend::core::rotary_turns(config_.rotation_base, config_.rotation_factor, head_dim / 2, turns_.data());
  logits_.resize(extent(config_.vocab_size));
}

void Llama::attend_with(LayerAttention attention) {
  attention_ = std::move(attention);
  const int head_dim = config_.head_dim();
  scratch_ = aligned_floats(std::max(attend::core::scratch_floats(row_block_, key_block_, head_dim, head_dim, capacity_, true),
                                     attend::core::option_scratch_floats(row_block_, key_block_, head_dim, head_dim)));
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
  const int head_dim = config_.head_dim();
  normalise(layer.attention_norm);
  project(layer.query, normed_.get(), query_.get());
  project(layer.key, normed_.get(), key_.get());
  project(layer.value, normed_.get(), value_.get());
  rotate(query_.get(), config_.heads);
  rotate(key_.get(), config_.kv_heads);

  const LayerCache& cache = caches_[extent(index)];
  attend::core::store({cache.keys.get(), cache.values.get(), config_.kv_heads, head_dim, head_dim, capacity_}, length_, 1,
                      {key_.get(), config_.kv_dim(), head_dim}, {value_.get(), config_.kv_dim(), head_dim});
  attend::core::Problem problem{};
  problem.query = {query_.get(), config_.dim, head_dim};
  problem.output = {attended_.get(), config_.dim, head_dim};
  problem.key = {cache.keys.get(), 0, std::ptrdiff_t(attend::core::cache_key_floats(1, head_dim, capacity_))};
  problem.value = {cache.values.get(), head_dim, std::ptrdiff_t(attend::core::cache_value_floats(1, head_dim, capacity_))};
  problem.query_heads = config_.heads;
  problem.kv_heads = config_.kv_heads;
  problem.head_dim = head_dim;
  problem.value_dim = head_dim;
  problem.queries = 1;
  problem.keys = length_ + 1;
  problem.offset = length_;
  problem.scale = scale_;
  problem.causal = true;
  problem.key_panels = true;
  problem.row_block = row_block_;
  problem.key_block = key_block_;
  problem.scratch = scratch_.get();
  if (attention_) {
    attention_(index, problem);
  } else {
    attend::core::run(problem);
  }

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
