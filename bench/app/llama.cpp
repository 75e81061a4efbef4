#include "llama.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "attend/attention.h"

namespace app {
namespace {

constexpr float norm_epsilon = 1e-5f;
constexpr float rotation_base = 10000.0f;
constexpr auto alignment = std::align_val_t(attend::config::alignment);

AlignedFloats aligned_floats(std::size_t count) {
  return AlignedFloats(static_cast<float*>(::operator new[](count * sizeof(float), alignment)));
}

std::size_t extent(int number) { return static_cast<std::size_t>(number); }

// The part of an array [layers][floats] that belongs to one layer.
const float* layer_part(const float* array, int layer, std::size_t floats) { return array + extent(layer) * floats; }

// out[row] = sum over c of matrix[row][c] * in[c]. A row is summed in 8 interleaved parts, which compilers turn into vectors
// without being allowed to reorder a sum.
void multiply(std::vector<float>& out, const float* matrix, const std::vector<float>& in) {
  constexpr std::size_t parts = 8;
  const std::size_t columns = in.size(), whole = columns - columns % parts;
  const float* const input = in.data();
  for (float& sum : out) {
    float partial[parts] = {};
    for (std::size_t c = 0; c < whole; c += parts) {
      for (std::size_t part = 0; part < parts; ++part) partial[part] += matrix[c + part] * input[c + part];
    }
    for (std::size_t c = whole; c < columns; ++c) partial[c - whole] += matrix[c] * input[c];
    sum = ((partial[0] + partial[4]) + (partial[2] + partial[6])) + ((partial[1] + partial[5]) + (partial[3] + partial[7]));
    matrix += columns;
  }
}

// out[i] = in[i] / root mean square of in * gain[i]
void normalise(std::vector<float>& out, const std::vector<float>& in, const float* gain) {
  float squares = 0;
  for (const float number : in) squares += number * number;
  const float scale = 1.0f / std::sqrt(squares / static_cast<float>(in.size()) + norm_epsilon);
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = gain[i] * (scale * in[i]);
}

void add(std::vector<float>& to, const std::vector<float>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Turns every pair (2i, 2i + 1) of every head by the angle of pair i.
void rotate(std::vector<float>& heads, const std::vector<float>& cosines, const std::vector<float>& sines) {
  const std::size_t pairs = cosines.size();
  for (std::size_t begin = 0; begin < heads.size(); begin += 2 * pairs) {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      float& x = heads[begin + 2 * pair];
      float& y = heads[begin + 2 * pair + 1];
      const float turned = x * cosines[pair] - y * sines[pair];
      y = x * sines[pair] + y * cosines[pair];
      x = turned;
    }
  }
}

}  // namespace

void FreeAligned::operator()(float* floats) const { ::operator delete[](floats, alignment); }

Llama::Llama(const Checkpoint& checkpoint, int capacity)
    : config_(checkpoint.config), weights_(checkpoint.weights), capacity_(capacity) {
  const std::size_t dim = extent(config_.dim), kv_dim = extent(config_.kv_dim()), hidden_dim = extent(config_.hidden_dim);
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
  for (std::vector<float>* array : {&stream_, &normed_, &query_, &attended_, &update_}) array->resize(dim);
  for (std::vector<float>* array : {&key_, &value_}) array->resize(kv_dim);
  for (std::vector<float>* array : {&gate_, &up_}) array->resize(hidden_dim);
  for (std::vector<float>* array : {&cosines_, &sines_}) array->resize(extent(config_.head_dim()) / 2);
  logits_.resize(extent(config_.vocab_size));
}

void Llama::attend_with(LayerAttention attention) {
  attention_ = std::move(attention);
  const int head_dim = config_.head_dim();
  scratch_ = aligned_floats(std::max(attend::core::scratch_floats(row_block_, key_block_, head_dim, head_dim, capacity_, true),
                                     attend::core::option_scratch_floats(row_block_, key_block_, head_dim, head_dim)));
}

void Llama::advance(int token) {
  std::copy_n(layer_part(weights_.token_embedding, token, stream_.size()), stream_.size(), stream_.begin());
  for (std::size_t pair = 0; pair < cosines_.size(); ++pair) {
    const float fraction = static_cast<float>(2 * pair) / static_cast<float>(config_.head_dim());
    const float angle = static_cast<float>(length_) * (1.0f / std::pow(rotation_base, fraction));
    cosines_[pair] = std::cos(angle);
    sines_[pair] = std::sin(angle);
  }
  for (int layer = 0; layer < config_.layers; ++layer) {
    attend_layer(layer);
    feed_forward(layer);
  }
  ++length_;
}

void Llama::attend_layer(int layer) {
  const std::size_t dim = stream_.size(), kv_dim = key_.size();
  const int head_dim = config_.head_dim();
  normalise(normed_, stream_, layer_part(weights_.attention_norm, layer, dim));
  multiply(query_, layer_part(weights_.query, layer, dim * dim), normed_);
  multiply(key_, layer_part(weights_.key, layer, kv_dim * dim), normed_);
  multiply(value_, layer_part(weights_.value, layer, kv_dim * dim), normed_);
  rotate(query_, cosines_, sines_);
  rotate(key_, cosines_, sines_);

  const LayerCache& cache = caches_[extent(layer)];
  attend::core::store({cache.keys.get(), cache.values.get(), config_.kv_heads, head_dim, head_dim, capacity_}, length_, 1,
                      {key_.data(), config_.kv_dim(), head_dim}, {value_.data(), config_.kv_dim(), head_dim});
  attend::core::Problem problem{};
  problem.query = {query_.data(), config_.dim, head_dim};
  problem.output = {attended_.data(), config_.dim, head_dim};
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
    attention_(layer, problem);
  } else {
    attend::core::run(problem);
  }

  multiply(update_, layer_part(weights_.output, layer, dim * dim), attended_);
  add(stream_, update_);
}

// stream += down(silu(gate x) * (up x)), x the normalised stream
void Llama::feed_forward(int layer) {
  const std::size_t dim = stream_.size(), hidden_dim = gate_.size();
  normalise(normed_, stream_, layer_part(weights_.feed_norm, layer, dim));
  multiply(gate_, layer_part(weights_.gate, layer, hidden_dim * dim), normed_);
  multiply(up_, layer_part(weights_.up, layer, hidden_dim * dim), normed_);
  for (std::size_t i = 0; i < hidden_dim; ++i) gate_[i] *= up_[i] / (1.0f + std::exp(-gate_[i]));
  multiply(update_, layer_part(weights_.down, layer, dim * hidden_dim), gate_);
  add(stream_, update_);
}

const std::vector<float>& Llama::logits() {
  normalise(normed_, stream_, weights_.final_norm);
  multiply(logits_, weights_.classifier, normed_);
  return logits_;
}

}  // namespace app
