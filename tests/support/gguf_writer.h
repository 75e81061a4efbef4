// Writes GGUF files: values with names, tensors with names, a Llama, and a vocabulary with scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../bench/app/checkpoint.h"
#include "../../bench/app/vocabulary.h"
#include "number_formats.h"

namespace attend_test {

inline void put_number(std::string& bytes, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> 8 * i & 0xFF);
}

inline std::uint32_t bits_of(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

// A block of 256 numbers of Q6_K: lower 4 bits, upper 2 bits, factors of 16 numbers each, the scale.
inline std::string q6_k_block(const float* numbers) {
  float largest = 0;
  for (int i = 0; i < 256; ++i) largest = std::max(largest, std::fabs(numbers[i]));
  const std::uint16_t scale = narrowed(double(largest) / (31 * 100), 10);
  std::string low(128, '\0'), high(64, '\0'), factors;
  const auto put = [](char& byte, int bits, int shift) { byte = static_cast<char>(byte | bits << shift); };
  for (int group = 0; group < 16; ++group) {
    const int factor = (group * 37 + 90) % 121 + 5;  // any of 8 bits
    factors += static_cast<char>(group % 2 == 0 ? factor : -factor);
    const float unit = widened(scale, 10) * float(group % 2 == 0 ? factor : -factor);
    for (int i = group * 16; i < group * 16 + 16; ++i) {
      const int code = unit == 0 ? 32 : std::clamp(int(std::lround(numbers[i] / unit)), -32, 31) + 32;
      const std::size_t half = std::size_t(i / 128), quarter = std::size_t(i % 128 / 32), at = std::size_t(i % 32);
      put(low[half * 64 + (quarter & 1) * 32 + at], code & 15, quarter < 2 ? 0 : 4);
      put(high[half * 32 + at], code >> 4, int(quarter) * 2);
    }
  }
  std::string bytes = low + high + factors;
  put_number(bytes, scale, 2);
  return bytes;
}

// The same read back, four numbers of a byte of upper bits at a time.
inline void read_q6_k_block(const std::string& bytes, std::size_t first, std::vector<float>& numbers) {
  const auto byte = [&](std::size_t at) { return int(static_cast<unsigned char>(bytes[first + at])); };
  const float scale = widened(std::uint16_t(byte(208) | byte(209) << 8), 10);
  std::vector<float> block(256);
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t l = 0; l < 32; ++l) {
      const int a = byte(half * 64 + l), b = byte(half * 64 + 32 + l), h = byte(128 + half * 32 + l);
      const int codes[] = {(a & 15) | (h & 3) << 4, (b & 15) | (h >> 2 & 3) << 4, a >> 4 | (h >> 4 & 3) << 4,
                           b >> 4 | h >> 6 << 4};
      for (std::size_t q = 0; q < 4; ++q) {
        const auto factor = static_cast<signed char>(bytes[first + 192 + half * 8 + q * 2 + l / 16]);
        block[half * 128 + q * 32 + l] = scale * float(factor) * float(codes[q] - 32);
      }
    }
  }
  numbers.insert(numbers.end(), block.begin(), block.end());
}

// Rows of numbers as a tensor of GGUF has them.
inline std::string stored_rows(app::NumberKind kind, const std::vector<float>& numbers) {
  std::string bytes;
  if (kind == app::NumberKind::float32) {
    for (const float number : numbers) put_number(bytes, bits_of(number), 4);
  } else if (!app::in_blocks(kind)) {
    for (const float number : numbers)
      put_number(bytes, narrowed(double(number), kind == app::NumberKind::float16 ? 10 : 7), 2);
  } else if (kind == app::NumberKind::q6_k) {
    for (std::size_t first = 0; first < numbers.size(); first += 256) bytes += q6_k_block(&numbers[first]);
  } else {
    const bool has_8_bits = kind == app::NumberKind::q8_0;
    for (std::size_t first = 0; first < numbers.size(); first += 32) {
      const float* const block = &numbers[first];
      float largest = 0;
      for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(block[i]));
      const std::uint16_t scale = narrowed(double(largest) / (has_8_bits ? 127 : 7), 10);
      const float unit = widened(scale, 10);
      put_number(bytes, scale, 2);
      const auto code = [&](int i) {
        const int most = has_8_bits ? 127 : 7;
        const int number = unit == 0 ? 0 : std::clamp(int(std::lround(block[i] / unit)), -most - 1, most);
        return std::uint64_t(has_8_bits ? number & 255 : number + 8);
      };
      for (int i = 0; i < (has_8_bits ? 32 : 16); ++i) put_number(bytes, has_8_bits ? code(i) : code(i) | code(i + 16) << 4, 1);
    }
  }
  return bytes;
}

// The numbers that such rows stand for.
inline std::vector<float> read_back(app::NumberKind kind, const std::string& bytes) {
  std::vector<float> numbers;
  const auto byte = [&](std::size_t at) { return std::uint16_t(static_cast<unsigned char>(bytes[at])); };
  const auto pair = [&](std::size_t at) { return std::uint16_t(byte(at) | byte(at + 1) << 8); };
  for (std::size_t at = 0; at < bytes.size();) {
    if (kind == app::NumberKind::float32) {
      const std::uint32_t bits = pair(at) | std::uint32_t(pair(at + 2)) << 16;
      float number;
      std::memcpy(&number, &bits, sizeof number);
      numbers.push_back(number), at += 4;
    } else if (!app::in_blocks(kind)) {
      numbers.push_back(widened(pair(at), kind == app::NumberKind::float16 ? 10 : 7)), at += 2;
    } else if (kind == app::NumberKind::q8_0) {
      for (std::size_t i = 0; i < 32; ++i) {
        numbers.push_back(widened(pair(at), 10) * float(static_cast<signed char>(bytes[at + 2 + i])));
      }
      at += 34;
    } else if (kind == app::NumberKind::q6_k) {
      read_q6_k_block(bytes, at, numbers);
      at += 210;
    } else {
      for (std::size_t i = 0; i < 16; ++i) numbers.push_back(widened(pair(at), 10) * float((byte(at + 2 + i) & 15) - 8));
      for (std::size_t i = 0; i < 16; ++i) numbers.push_back(widened(pair(at), 10) * float((byte(at + 2 + i) >> 4) - 8));
      at += 18;
    }
  }
  return numbers;
}

class GgufWriter {
 public:
  void whole(const std::string& key, std::uint32_t number) { put(key, 4), put_number(values_, number, 4); }
  void large(const std::string& key, std::uint64_t number) { put(key, 10), put_number(values_, number, 8); }
  void real(const std::string& key, float number) { put(key, 6), put_number(values_, bits_of(number), 4); }
  void truth(const std::string& key, bool value) { put(key, 7), put_number(values_, value, 1); }
  void text(const std::string& key, const std::string& text) { put(key, 8), put_text(values_, text); }

  // An array of `count` elements, which the caller puts behind it.
  std::string& array(const std::string& key, std::uint32_t type, std::uint64_t count) {
    put(key, 9), put_number(values_, type, 4), put_number(values_, count, 8);
    return values_;
  }

  void tensor(const std::string& name, const std::vector<std::uint64_t>& extents, std::uint32_t type,
              const std::string& bytes) {
    put_text(tensors_, name);
    put_number(tensors_, extents.size(), 4);
    for (const std::uint64_t extent : extents) put_number(tensors_, extent, 8);
    put_number(tensors_, type, 4);
    put_number(tensors_, data_.size(), 8);
    data_ += bytes;
    data_.resize((data_.size() + 31) / 32 * 32);
    ++tensor_count_;
  }

  static void put_text(std::string& bytes, const std::string& text) { put_number(bytes, text.size(), 8), bytes += text; }

  std::string bytes(std::uint32_t version = 3) const {
    std::string bytes = "GGUF";
    put_number(bytes, version, 4), put_number(bytes, tensor_count_, 8), put_number(bytes, value_count_, 8);
    bytes += values_ + tensors_;
    bytes.resize((bytes.size() + 31) / 32 * 32);
    return bytes + data_;
  }

 private:
  void put(const std::string& key, std::uint32_t type) { put_text(values_, key), put_number(values_, type, 4), ++value_count_; }

  std::string values_, tensors_, data_;
  std::uint64_t value_count_ = 0, tensor_count_ = 0;
};

inline std::uint32_t gguf_type(app::NumberKind kind) {
  constexpr std::uint32_t types[] = {0, 1, 30, ~0u, 8, 2, 14};
  return types[int(kind)];
}

// A vocabulary as sentencepiece has it.
inline void put_vocabulary(GgufWriter& file, const app::Vocabulary& vocabulary) {
  file.text("tokenizer.ggml.model", "llama");
  std::string& texts = file.array("tokenizer.ggml.tokens", 8, vocabulary.pieces.size());
  for (const app::Piece& piece : vocabulary.pieces) {
    std::string text;
    for (const char letter : piece.text) text += letter == ' ' ? std::string("\xE2\x96\x81") : std::string(1, letter);
    if (piece.kind == app::PieceKind::byte) {
      const char* const digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(piece.text[0]);
      text = std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
    }
    GgufWriter::put_text(texts, text);
  }
  std::string& scores = file.array("tokenizer.ggml.scores", 6, vocabulary.pieces.size());
  for (const app::Piece& piece : vocabulary.pieces) put_number(scores, bits_of(piece.score), 4);
  std::string& kinds = file.array("tokenizer.ggml.token_type", 5, vocabulary.pieces.size());
  for (const app::Piece& piece : vocabulary.pieces) {
    put_number(kinds, piece.kind == app::PieceKind::byte ? 6 : piece.kind == app::PieceKind::control ? 3 : 1, 4);
  }
}

// A Llama whose matrices are of a kind. Its weights are floats in rows.
inline void put_llama(GgufWriter& file, const app::Checkpoint& checkpoint, app::NumberKind kind) {
  const app::Config& c = checkpoint.config;
  file.text("general.architecture", "llama");
  const std::pair<const char*, int> extents[] = {
      {"embedding_length", c.dim},           {"feed_forward_length", c.hidden_dim},   {"block_count", c.layers},
      {"attention.head_count", c.heads},     {"attention.head_count_kv", c.kv_heads}, {"context_length", c.seq_len},
      {"rope.dimension_count", c.head_dim()}};
  for (const auto& [key, extent] : extents) file.whole(std::string("llama.") + key, std::uint32_t(extent));
  file.real("llama.attention.layer_norm_rms_epsilon", c.norm_epsilon);
  file.real("llama.rope.freq_base", c.rotation_base);
  const auto numbers = [](const void* from, std::size_t count) {
    const float* const floats = static_cast<const float*>(from);
    return std::vector<float>(floats, floats + count);
  };
  const auto vector = [&](const std::string& name, const float* from) {
    file.tensor(name, {std::uint64_t(c.dim)}, 0, stored_rows(app::NumberKind::float32, numbers(from, std::size_t(c.dim))));
  };
  const auto matrix = [&](const std::string& name, const app::Matrix& from) {
    const std::size_t count = std::size_t(from.outputs) * std::size_t(from.inputs);
    file.tensor(name, {std::uint64_t(from.inputs), std::uint64_t(from.outputs)}, gguf_type(kind),
                stored_rows(kind, numbers(from.numbers, count)));
  };
  const app::Weights& weights = checkpoint.weights;
  matrix("token_embd.weight", weights.token_embedding);
  if (!c.shared_classifier) matrix("output.weight", weights.classifier);
  vector("output_norm.weight", weights.final_norm);
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const app::Layer& layer = weights.layers[i];
    const std::string block = "blk." + std::to_string(i) + ".";
    vector(block + "attn_norm.weight", layer.attention_norm), vector(block + "ffn_norm.weight", layer.feed_norm);
    const std::pair<const char*, const app::Matrix*> matrices[] = {
        {"attn_q", &layer.query},  {"attn_k", &layer.key}, {"attn_v", &layer.value}, {"attn_output", &layer.output},
        {"ffn_gate", &layer.gate}, {"ffn_up", &layer.up},  {"ffn_down", &layer.down}};
    for (const auto& [name, from] : matrices) matrix(block + name + ".weight", *from);
  }
}

// The same in a file with its vocabulary; `change` may add to the file or leave things out.
template <class Vocabulary, class Change>
std::string gguf_bytes(const app::Checkpoint& checkpoint, const Vocabulary& vocabulary, app::NumberKind kind, Change change) {
  GgufWriter file;
  put_llama(file, checkpoint, kind);
  put_vocabulary(file, vocabulary);
  change(file);
  return file.bytes();
}

}  // namespace attend_test
