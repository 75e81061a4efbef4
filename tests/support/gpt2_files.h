// A vocabulary of bytes and merges, and a GPT-2 of random numbers, to be written to GGUF files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../bench/app/story_model.h"
#include "gguf_writer.h"
#include "random.h"

namespace attend_test {

// Bytes in GPT-2's alphabet: those that can be seen in Latin 1 are themselves, the others U+0100, U+0101 and so on in UTF-8.
inline std::string letters_of(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto is_seen = [](int code) { return (code >= 33 && code <= 126) || (code >= 161 && code <= 255 && code != 173); };
    int code = static_cast<unsigned char>(byte);
    if (!is_seen(code)) {
      int before = 0;
      for (int other = 0; other < code; ++other) before += !is_seen(other);
      code = 256 + before;
    }
    if (code >= 128) text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(code < 128 ? code : 0x80 | (code & 63));
  }
  return text;
}

// As its texts stand in a file.
struct MergedVocabulary {
  std::string rules = "gpt-2";  // or empty, where the file does not say it
  std::vector<std::string> tokens, merges;
  std::vector<int> types;  // of tokens
  std::uint32_t begin = 0, end = 0;
};

// Bytes in descending order, what pairs of bytes become, and the marker "<|end|>", which begins and ends texts.
inline MergedVocabulary merged_vocabulary(const std::string& rules,
                                          const std::vector<std::pair<std::string, std::string>>& merges) {
  MergedVocabulary result;
  result.rules = rules;
  for (int byte = 255; byte >= 0; --byte) result.tokens.push_back(letters_of(std::string(1, static_cast<char>(byte))));
  for (const auto& [left, right] : merges) {
    result.tokens.push_back(letters_of(left + right));
    result.merges.push_back(letters_of(left) + " " + letters_of(right));
  }
  result.types.assign(result.tokens.size(), 1);
  result.begin = result.end = std::uint32_t(result.tokens.size());
  result.tokens.emplace_back("<|end|>");
  result.types.push_back(3);
  return result;
}

inline void put_vocabulary(GgufWriter& file, const MergedVocabulary& vocabulary) {
  file.text("tokenizer.ggml.model", "gpt2");
  if (!vocabulary.rules.empty()) file.text("tokenizer.ggml.pre", vocabulary.rules);
  for (const auto& [key, texts] : {std::pair("tokens", &vocabulary.tokens), std::pair("merges", &vocabulary.merges)}) {
    std::string& elements = file.array(std::string("tokenizer.ggml.") + key, 8, texts->size());
    for (const std::string& text : *texts) GgufWriter::put_text(elements, text);
  }
  std::string& types = file.array("tokenizer.ggml.token_type", 5, vocabulary.types.size());
  for (const int type : vocabulary.types) put_number(types, std::uint64_t(type), 4);
  file.whole("tokenizer.ggml.bos_token_id", vocabulary.begin);
  file.whole("tokenizer.ggml.eos_token_id", vocabulary.end);
}

struct NamedTensor {
  std::string name;
  int columns, rows;  // one row: a vector
  std::vector<float> numbers;
};

struct Gpt2Numbers {
  app::Gpt2Config config;
  std::vector<NamedTensor> tensors;

  const std::vector<float>& operator[](const std::string& name) const {
    for (const NamedTensor& tensor : tensors) {
      if (tensor.name == name) return tensor.numbers;
    }
    static const std::vector<float> none;
    return none;
  }
};

// Gains are around 1, so that all of a model counts.
inline Gpt2Numbers random_gpt2(const app::Gpt2Config& c, std::uint64_t seed) {
  Gpt2Numbers result{c, {}};
  Random random(seed);
  const auto add = [&](const std::string& name, int columns, int rows, float middle, float spread) {
    NamedTensor tensor{name, columns, rows, std::vector<float>(std::size_t(columns) * std::size_t(rows))};
    for (float& number : tensor.numbers) number = middle + random.uniform() * spread;
    result.tensors.push_back(tensor);
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", c.dim, 1, 1, 0.5f), add(name + ".bias", c.dim, 1, 0, 0.3f);
  };
  const auto projection = [&](const std::string& name, int rows, int columns) {
    add(name + ".weight", columns, rows, 0, 0.4f), add(name + ".bias", rows, 1, 0, 0.3f);
  };
  add("token_embd.weight", c.dim, c.vocab_size, 0, 0.5f);
  add("position_embd.weight", c.dim, c.seq_len, 0, 0.5f);
  for (int i = 0; i < c.layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm");
    projection(block + "attn_qkv", 3 * c.dim, c.dim);
    projection(block + "attn_output", c.dim, c.dim);
    norm(block + "ffn_norm");
    projection(block + "ffn_up", c.hidden_dim, c.dim);
    projection(block + "ffn_down", c.dim, c.hidden_dim);
  }
  norm("output_norm");
  if (!c.shared_classifier) add("output.weight", c.dim, c.vocab_size, 0, 0.5f);
  return result;
}

// Matrices are of a kind.
inline void put_gpt2(GgufWriter& file, const Gpt2Numbers& model, app::NumberKind kind) {
  const app::Gpt2Config& c = model.config;
  file.text("general.architecture", "gpt2");
  const std::pair<const char*, int> extents[] = {{"embedding_length", c.dim},
                                                 {"feed_forward_length", c.hidden_dim},
                                                 {"block_count", c.layers},
                                                 {"attention.head_count", c.heads},
                                                 {"context_length", c.seq_len}};
  for (const auto& [key, extent] : extents) file.whole(std::string("gpt2.") + key, std::uint32_t(extent));
  file.real("gpt2.attention.layer_norm_epsilon", c.norm_epsilon);
  for (const NamedTensor& tensor : model.tensors) {
    const bool is_vector = tensor.rows == 1;
    std::vector<std::uint64_t> extents_of{std::uint64_t(tensor.columns)};
    if (!is_vector) extents_of.push_back(std::uint64_t(tensor.rows));
    const app::NumberKind of = is_vector ? app::NumberKind::float32 : kind;
    file.tensor(tensor.name, extents_of, gguf_type(of), stored_rows(of, tensor.numbers));
  }
}

// `change` may add to the file or leave things out.
template <class Change>
std::string gguf_bytes(const Gpt2Numbers& model, const MergedVocabulary& vocabulary, app::NumberKind kind, Change change) {
  GgufWriter file;
  put_gpt2(file, model, kind);
  put_vocabulary(file, vocabulary);
  change(file);
  return file.bytes();
}

inline void as_it_is(GgufWriter&) {}

inline const MergedVocabulary small_merges = merged_vocabulary("gpt-2", {{"a", "b"}, {" ", "ab"}, {"ab", "c"}});
inline const int small_pieces = int(small_merges.tokens.size());

// Heads of an odd width.
inline const app::Gpt2Config odd_gpt2 = {21, 34, 2, 3, small_pieces, 19, true, 1e-5f};
// Columns in whole blocks of 32.
inline const app::Gpt2Config block_gpt2 = {64, 96, 2, 8, small_pieces, 21, true, 1e-5f};

// Those behind each token.
inline std::vector<float> logits_of(const app::StoryModel& model, const std::vector<int>& tokens) {
  const auto computed = app::language_model(model, int(tokens.size()));
  std::vector<float> all;
  for (const int token : tokens) {
    computed->advance(token);
    all.insert(all.end(), computed->logits().begin(), computed->logits().end());
  }
  return all;
}

}  // namespace attend_test
