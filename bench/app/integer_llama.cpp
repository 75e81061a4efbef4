#include "integer_llama.h"

#include <algorithm>

#include "attend/attention.h"
#include "attend/layers/core_layer.h"
#include "llama.h"
#include "quantise.h"

namespace app {
namespace {

constexpr double log2_e = 1.4426950408889634;

std::size_t extent(int number) { return static_cast<std::size_t>(number); }

attend::core::IntegerLinear linear_of(const Matrix& matrix, const std::int8_t* input, void* output) {
  attend::core::IntegerLinear linear{};
  linear.input = input;
  linear.output = output;
  linear.weights = static_cast<const std::int8_t*>(matrix.numbers);
  linear.input_stride = linear.weight_stride = linear.inputs = matrix.inputs;
  linear.output_stride = linear.outputs = matrix.outputs;
  linear.tokens = 1;
  return linear;
}

}  // namespace

IntegerLlama::IntegerLlama(const Checkpoint& checkpoint, const IntegerScales& scales, int capacity)
    : config_(checkpoint.config), weights_(checkpoint.weights), scales_(scales), capacity_(capacity) {
  if (weights_.classifier.scales == nullptr || weights_.classifier.panels || scales_.size() != weights_.layers.size()) {
    throw Failure("the model in integers needs weights of 8 bits and scales: make quantise writes them");
  }
  const int head_dim = config_.head_dim();
  row_block_ = std::min(attend::core::rows_per_kv_head(config_.heads, config_.kv_heads, 1), attend::config::row_block);
  key_block_ = (capacity + attend::integer_chunk - 1) / attend::integer_chunk * attend::integer_chunk;
  scratch_ = aligned_floats(
      attend::core::integer_scratch_bytes(row_block_, key_block_, head_dim, head_dim, attend::core::segment_levels(capacity)) /
          sizeof(float) +
      1);
  for (std::size_t i = 0; i < scales_.size(); ++i) states_.push_back(layer_state(weights_.layers[i], scales_[i]));
  for (std::vector<float>* array : {&stream_, &normed_, &query_, &update_}) array->resize(extent(config_.dim));
  for (std::vector<float>* array : {&gate_, &up_}) array->resize(extent(config_.hidden_dim));
  key_.resize(extent(config_.kv_dim()));
  queries_.resize(extent(config_.dim));
  numbers_.resize(extent(std::max(config_.dim, config_.hidden_dim)));
  sums_.resize(extent(std::max({config_.dim, config_.hidden_dim, config_.vocab_size})));
  turns_ = rotary_turns(config_, weights_);
  for (std::vector<float>* array : {&cosines_, &sines_}) array->resize(turns_.size());
  logits_.resize(extent(config_.vocab_size));
}

IntegerLlama::LayerState IntegerLlama::layer_state(const Layer& layer, const LayerScales& scales) const {
  LayerState state;
  const int head_dim = config_.head_dim(), group = config_.heads / config_.kv_heads;
  for (std::vector<std::int8_t>* cache : {&state.keys, &state.values}) cache->resize(extent(capacity_ * config_.kv_dim()));
  const double scale = double(attend::default_scale(head_dim)) * log2_e;
  for (int head = 0; head < config_.heads; ++head) {
    const std::size_t kv_head = extent(head / group);
    const double step = scale * double(scales.query[extent(head)]) * double(scales.key[kv_head]);
    const double steps = double(scales.value[kv_head]) / double(scales.attended);
    if (!attend::core::is_score_step(step) || !attend::core::is_output_step(steps)) {
      throw Failure("the scales of the model in integers are out of range");
    }
    state.score_scales.push_back(attend::core::score_scale(step));
    state.output_scales.push_back(attend::core::output_scale(steps));
  }
  for (int output = 0; output < config_.kv_dim(); ++output) {
    const double value_scale = double(scales.value[extent(output / head_dim)]);
    state.value_multipliers.push_back(
        attend::core::integer_multiplier(double(scales.input) * double(layer.value.scales[output]) / value_scale));
  }
  return state;
}

void IntegerLlama::advance(int token) {
  read_row(weights_.token_embedding, token, stream_.data());
  attend::core::rotary_angles({turns_.data(), 1.0f}, config_.head_dim() / 2, length_, cosines_.data(), sines_.data());
  for (int layer = 0; layer < config_.layers; ++layer) {
    attend_layer(layer);
    feed_forward(weights_.layers[extent(layer)]);
  }
  ++length_;
}

void IntegerLlama::normalise(const float* gain) {
  attend::core::rms_norm(
      {stream_.data(), config_.dim, normed_.data(), config_.dim, gain, nullptr, 1, config_.dim, config_.norm_epsilon});
}

void IntegerLlama::rotate(std::vector<float>& heads) const {
  const int head_dim = config_.head_dim();
  attend::core::rotate({heads.data(), head_dim, int(heads.size()) / head_dim, head_dim / 2, 1, cosines_.data(), sines_.data()});
}

void IntegerLlama::quantise_heads(const std::vector<float>& heads, const float* scales, std::int8_t* numbers) const {
  const int head_dim = config_.head_dim(), count = int(heads.size());
  for (int at = 0; at < count; at += head_dim) quantise(heads.data() + at, head_dim, *scales++, numbers + at);
}

void IntegerLlama::project(const Matrix& matrix, float scale, float* output) {
  attend::core::run_integer_linear<4>(linear_of(matrix, numbers_.data(), sums_.data()));
  for (int o = 0; o < matrix.outputs; ++o) output[o] = float(sums_[extent(o)]) * (matrix.scales[o] * scale);
}

// stream += output(attention(query, keys, values)), of the normalised stream
void IntegerLlama::attend_layer(int index) {
  const Layer& layer = weights_.layers[extent(index)];
  const LayerScales& scales = scales_[extent(index)];
  LayerState& state = states_[extent(index)];
  const std::ptrdiff_t place = std::ptrdiff_t(length_) * config_.kv_dim();
  normalise(layer.attention_norm);
  quantise(normed_.data(), config_.dim, scales.input, numbers_.data());
  project(layer.query, scales.input, query_.data());
  project(layer.key, scales.input, key_.data());
  attend::core::IntegerLinear value = linear_of(layer.value, numbers_.data(), state.values.data() + place);
  value.multipliers = state.value_multipliers.data();
  value.multiplier_stride = 1;
  attend::core::run_integer_linear<1>(value);
  rotate(query_);
  rotate(key_);
  quantise_heads(query_, scales.query.data(), queries_.data());
  quantise_heads(key_, scales.key.data(), state.keys.data() + place);
  run_attention(state);
  project(layer.output, scales.attended, update_.data());
  attend::core::add(update_.data(), 1.0f, config_.dim, stream_.data());
}

// Writes numbers_, the input of the projection behind it.
void IntegerLlama::run_attention(LayerState& state) {
  const int head_dim = config_.head_dim();
  attend::core::Problem problem{};
  problem.query = {queries_.data(), config_.dim, head_dim};
  problem.output = {numbers_.data(), config_.dim, head_dim};
  problem.key = {state.keys.data(), config_.kv_dim(), head_dim};
  problem.value = {state.values.data(), config_.kv_dim(), head_dim};
  problem.query_heads = config_.heads;
  problem.kv_heads = config_.kv_heads;
  problem.head_dim = problem.value_dim = head_dim;
  problem.queries = 1;
  problem.keys = length_ + 1;
  problem.offset = length_;
  problem.causal = true;
  problem.score_scales = state.score_scales.data();
  problem.output_scales = state.output_scales.data();
  problem.scale_stride = 1;
  problem.row_block = row_block_;
  problem.key_block = key_block_;
  problem.scratch = scratch_.get();
  attend::core::Integers::run(problem);
}

// stream += down(silu(gate x) * (up x)), x the normalised stream. Its numbers vary too much for scales that stay.
void IntegerLlama::feed_forward(const Layer& layer) {
  normalise(layer.feed_norm);
  float scale = quantise_by_largest(normed_.data(), config_.dim, numbers_.data());
  project(layer.gate, scale, gate_.data());
  project(layer.up, scale, up_.data());
  attend::core::activate<attend::Activation::silu>(gate_.data(), up_.data(), config_.hidden_dim, gate_.data());
  scale = quantise_by_largest(gate_.data(), config_.hidden_dim, numbers_.data());
  project(layer.down, scale, update_.data());
  attend::core::add(update_.data(), 1.0f, config_.dim, stream_.data());
}

const std::vector<float>& IntegerLlama::logits() {
  normalise(weights_.final_norm);
  project(weights_.classifier, quantise_by_largest(normed_.data(), config_.dim, numbers_.data()), logits_.data());
  return logits_;
}

}  // namespace app
