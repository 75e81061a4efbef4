#include "gguf_model.h"

#include <cstdint>
#include <string>
#include <utility>

#include "attend/layers/core_layer.h"
#include "gguf.h"
#include "gguf_vocabulary.h"

namespace app {
namespace {

// The number of rows of the token embedding, which is that of the vocabulary's pieces.
int vocabulary_size(const GgufFile& file) {
  const int size = int(file.rows("token_embd.weight"));
  if (size < 3) file.file().fail("at least 3 rows of tensor token_embd.weight", std::to_string(size));
  return size;
}

// How many times more slowly positions turn than in the original model. Without a type of scaling it is linear.
float rotation_factor(const GgufFile& file) {
  const std::string type = "llama.rope.scaling.type";
  if (file.has(type) && file.known_text(type, {"none", "linear"}) == "none") return 1.0f;
  for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    if (file.has(key) && file.real_number(key, 0, 65536) != 0) return float(file.real_number(key, 1, 65536));
  }
  return 1.0f;
}

Config llama_config(const GgufFile& file) {
  const auto extent = [&](const char* key, std::int64_t least = 1) {
    return int(file.whole_number(std::string("llama.") + key, least, largest_extent));
  };
  Config config{};
  config.dim = extent("embedding_length");
  config.hidden_dim = extent("feed_forward_length");
  config.layers = extent("block_count");
  config.heads = extent("attention.head_count");
  config.kv_heads = file.has("llama.attention.head_count_kv") ? extent("attention.head_count_kv") : config.heads;
  config.seq_len = extent("context_length");
  config.vocab_size = vocabulary_size(file);
  config.shared_classifier = !file.has_tensor("output.weight");
  config.norm_epsilon = float(file.real_number("llama.attention.layer_norm_rms_epsilon", 0, 1));
  if (file.has("llama.rope.freq_base")) config.rotation_base = float(file.real_number("llama.rope.freq_base", 2, 1e12));
  config.rotation_factor = rotation_factor(file);
  check_heads(config, file.file());
  for (const char* key : {"llama.attention.key_length", "llama.attention.value_length", "llama.rope.dimension_count"}) {
    const std::int64_t found = file.has(key) ? file.whole_number(key, 1, largest_extent) : config.head_dim();
    if (found != config.head_dim()) {
      file.file().fail("embedding_length / head_count, which is " + std::to_string(config.head_dim()) + ", as " + key,
                       std::to_string(found));
    }
  }
  return config;
}

// How many times more slowly each pair of numbers turns, beside what all do; null where the file does not say it.
const float* rotation_factors(GgufFile& file, int pairs) {
  const std::string name = "rope_freqs.weight";
  if (!file.has_tensor(name)) return nullptr;
  const float* const factors = file.vector(name, pairs);
  for (int i = 0; i < pairs; ++i) {
    if (!attend::core::is_pair_factor(factors[i])) {
      file.file().fail("numbers within 0.0625 to 65536 as tensor " + name, std::to_string(factors[i]));
    }
  }
  return factors;
}

Weights llama_weights(GgufFile& file, const Config& c) {
  Weights weights;
  weights.token_embedding = weights.classifier = file.matrix("token_embd.weight", c.vocab_size, c.dim);
  if (!c.shared_classifier) weights.classifier = file.matrix("output.weight", c.vocab_size, c.dim);
  weights.final_norm = file.vector("output_norm.weight", c.dim);
  weights.rotation_factors = rotation_factors(file, c.head_dim() / 2);
  for (int i = 0; i < c.layers; ++i) {
    const auto name = [i](const char* part) { return "blk." + std::to_string(i) + "." + part + ".weight"; };
    Layer layer;
    layer.attention_norm = file.vector(name("attn_norm"), c.dim);
    layer.query = file.matrix(name("attn_q"), c.dim, c.dim);
    layer.key = file.matrix(name("attn_k"), c.kv_dim(), c.dim);
    layer.value = file.matrix(name("attn_v"), c.kv_dim(), c.dim);
    layer.output = file.matrix(name("attn_output"), c.dim, c.dim);
    layer.feed_norm = file.vector(name("ffn_norm"), c.dim);
    layer.gate = file.matrix(name("ffn_gate"), c.hidden_dim, c.dim);
    layer.up = file.matrix(name("ffn_up"), c.hidden_dim, c.dim);
    layer.down = file.matrix(name("ffn_down"), c.dim, c.hidden_dim);
    weights.layers.push_back(layer);
  }
  return weights;
}

Gpt2Config gpt2_config(const GgufFile& file) {
  const auto extent = [&](const char* key) { return int(file.whole_number(std::string("gpt2.") + key, 1, largest_extent)); };
  Gpt2Config config{};
  config.dim = extent("embedding_length");
  config.hidden_dim = extent("feed_forward_length");
  config.layers = extent("block_count");
  config.heads = extent("attention.head_count");
  config.seq_len = extent("context_length");
  config.vocab_size = vocabulary_size(file);
  config.shared_classifier = !file.has_tensor("output.weight");
  config.norm_epsilon = float(file.real_number("gpt2.attention.layer_norm_epsilon", 1e-30, 1));
  if (config.dim % config.heads != 0) {
    file.file().fail("gpt2.embedding_length to be a multiple of gpt2.attention.head_count",
                     std::to_string(config.dim) + " and " + std::to_string(config.heads));
  }
  const std::string kv_heads = "gpt2.attention.head_count_kv";
  if (file.has(kv_heads)) file.whole_number(kv_heads, config.heads, config.heads);
  return config;
}

Gpt2Weights gpt2_weights(GgufFile& file, const Gpt2Config& c) {
  const auto norm = [&](const std::string& name) {
    return Gpt2Norm{file.vector(name + ".weight", c.dim), file.vector(name + ".bias", c.dim)};
  };
  const auto projection = [&](const std::string& name, int outputs, int inputs) {
    return Gpt2Projection{file.matrix(name + ".weight", outputs, inputs), file.vector(name + ".bias", outputs)};
  };
  Gpt2Weights weights;
  weights.token_embedding = weights.classifier = file.matrix("token_embd.weight", c.vocab_size, c.dim);
  if (!c.shared_classifier) weights.classifier = file.matrix("output.weight", c.vocab_size, c.dim);
  weights.position_embedding = file.matrix("position_embd.weight", c.seq_len, c.dim);
  weights.final_norm = norm("output_norm");
  for (int i = 0; i < c.layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    Gpt2Layer layer;
    layer.attention_norm = norm(block + "attn_norm");
    layer.query_key_value = projection(block + "attn_qkv", 3 * c.dim, c.dim);
    layer.output = projection(block + "attn_output", c.dim, c.dim);
    layer.feed_norm = norm(block + "ffn_norm");
    layer.up = projection(block + "ffn_up", c.hidden_dim, c.dim);
    layer.down = projection(block + "ffn_down", c.dim, c.hidden_dim);
    weights.layers.push_back(layer);
  }
  return weights;
}

template <class Model, class Config, class Weights>
StoryModel story_model(GgufFile& file, const Config& config, Weights read_weights(GgufFile&, const Config&)) {
  Vocabulary vocabulary = read_vocabulary(file, config.vocab_size);
  Weights weights = read_weights(file, config);
  file.check_all_are_used();
  return {Model{config, std::move(weights), {file.file().storage()}}, std::move(vocabulary)};
}

}  // namespace

StoryModel load_gguf(const std::string& path) {
  GgufFile file(path);
  if (file.known_text("general.architecture", {"llama", "gpt2"}) == "gpt2") {
    return story_model<Gpt2Checkpoint>(file, gpt2_config(file), gpt2_weights);
  }
  return story_model<Checkpoint>(file, llama_config(file), llama_weights);
}

}  // namespace app
