#include "gguf_model.h"

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf.h"

namespace app {
namespace {

// Fails unless a text is one of those that the program knows.
void expect_text(const GgufFile& file, const std::string& key, std::string_view expected) {
  const std::string_view found = file.text(key);
  if (found != expected)
    file.file().fail("\"" + std::string(expected) + "\" as " + key, "\"" + std::string(found.substr(0, 64)) + "\"");
}

// How many times more slowly positions turn than in the original model. Without a type of scaling it is linear.
float rotation_factor(const GgufFile& file) {
  const std::string type = "llama.rope.scaling.type";
  if (file.has(type) && file.text(type) == "none") return 1.0f;
  if (file.has(type)) expect_text(file, type, "linear");
  for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    if (file.has(key) && file.real_number(key, 0, 65536) != 0) return float(file.real_number(key, 1, 65536));
  }
  return 1.0f;
}

Config read_config(const GgufFile& file) {
  expect_text(file, "general.architecture", "llama");
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
  config.vocab_size = int(file.rows("token_embd.weight"));
  if (config.vocab_size < 3) file.file().fail("at least 3 rows of tensor token_embd.weight", std::to_string(config.vocab_size));
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

Weights read_weights(GgufFile& file, const Config& c) {
  Weights weights;
  weights.token_embedding = weights.classifier = file.matrix("token_embd.weight", c.vocab_size, c.dim);
  if (!c.shared_classifier) weights.classifier = file.matrix("output.weight", c.vocab_size, c.dim);
  weights.final_norm = file.vector("output_norm.weight", c.dim);
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
  file.check_all_are_used();
  return weights;
}

// Pieces have U+2581 for a space.
std::string with_spaces(std::string_view text) {
  constexpr std::string_view mark = "\xE2\x96\x81";
  std::string result;
  while (!text.empty()) {
    const bool is_mark = text.substr(0, mark.size()) == mark;
    result += is_mark ? ' ' : text[0];
    text.remove_prefix(is_mark ? mark.size() : 1);
  }
  return result;
}

// What a piece is; without types in the file, by its text and its token.
PieceKind kind_of(const Vocabulary& vocabulary, const std::vector<std::int32_t>& kinds, int token, bool is_byte) {
  enum Kind { normal = 1, unknown, control, user_defined, unused, byte };
  if (kinds.empty()) {
    const bool is_control = token == vocabulary.unknown || token == vocabulary.begin || token == vocabulary.end;
    return is_byte ? PieceKind::byte : is_control ? PieceKind::control : PieceKind::text;
  }
  const std::int32_t kind = kinds[std::size_t(token)];
  if (kind == byte && is_byte) return PieceKind::byte;
  return kind == normal ? PieceKind::text : kind == user_defined ? PieceKind::whole : PieceKind::control;
}

Vocabulary read_vocabulary(const GgufFile& file, int size) {
  expect_text(file, "tokenizer.ggml.model", "llama");
  const auto has = [&](const char* name) { return file.has(std::string("tokenizer.ggml.") + name); };
  const std::vector<std::string_view> texts = file.texts("tokenizer.ggml.tokens");
  const std::vector<float> scores = has("scores") ? file.floats("tokenizer.ggml.scores") : std::vector<float>(texts.size());
  const std::vector<std::int32_t> kinds =
      has("token_type") ? file.int32s("tokenizer.ggml.token_type") : std::vector<std::int32_t>();
  for (const std::size_t count : {texts.size(), scores.size(), kinds.empty() ? texts.size() : kinds.size()}) {
    if (count != std::size_t(size)) {
      file.file().fail(std::to_string(size) + " pieces, scores and types of pieces, as the embedding has rows",
                       std::to_string(count));
    }
  }
  const auto token = [&](const char* name, int otherwise) {
    const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
    return file.has(key) ? int(file.whole_number(key, 0, size - 1)) : otherwise;
  };
  Vocabulary vocabulary;
  vocabulary.unknown = token("unknown", 0);
  vocabulary.begin = token("bos", 1);
  vocabulary.end = token("eos", 2);
  vocabulary.adds_begin = file.truth("tokenizer.ggml.add_bos_token", true);
  vocabulary.adds_space = file.truth("tokenizer.ggml.add_space_prefix", true);
  for (int i = 0; i < size; ++i) {
    const std::string_view text = texts[std::size_t(i)];
    const float score = scores[std::size_t(i)];
    if (std::isnan(score)) file.file().fail("a number as the score of piece " + std::to_string(i), "NaN");
    const int of_byte = byte_of(std::string(text.substr(0, 8)));
    const PieceKind kind = kind_of(vocabulary, kinds, i, of_byte >= 0);
    vocabulary.pieces.push_back(
        {kind == PieceKind::byte ? std::string(1, static_cast<char>(of_byte)) : with_spaces(text), score, kind});
  }
  return vocabulary;
}

}  // namespace

StoryModel load_gguf(const std::string& path) {
  GgufFile file(path);
  const Config config = read_config(file);
  Vocabulary vocabulary = read_vocabulary(file, config.vocab_size);
  return {{config, read_weights(file, config), {file.file().storage()}}, std::move(vocabulary)};
}

}  // namespace app
