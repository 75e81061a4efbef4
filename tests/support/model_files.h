// Small models and tokenizers, written as files byte by byte, and a folder for them.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace attend_test {

// A folder of this process, gone with the test.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_.string(); }

  std::string write(const char* name, const std::string& bytes) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::remove(path);  // some file systems wait for the disk when a file is overwritten
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }

 private:
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("attend-test-app-" + std::to_string(getpid()));
};

inline void put_int(std::string& bytes, std::int32_t number) {
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(static_cast<std::uint32_t>(number) >> 8 * i & 0xFF);
}

inline void put_float(std::string& bytes, float number) {
  std::int32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  put_int(bytes, bits);
}

// The header fields in the file's order.
struct Header {
  std::int32_t fields[7];
};
enum Field { dim_field, hidden_field, layers_field, heads_field, kv_heads_field, vocab_field, seq_field };

inline constexpr int byte_pieces = 256, small_vocabulary = 3 + byte_pieces + 21;

// Extents that no vector width divides.
inline constexpr Header small_header = {{20, 13, 2, 10, 5, small_vocabulary, 21}};
inline constexpr Header separate_header = {{20, 13, 2, 10, 5, -small_vocabulary, 21}};

inline std::size_t float_count(const Header& header) {
  const auto& f = header.fields;
  const auto dim = std::size_t(f[dim_field]), hidden = std::size_t(f[hidden_field]), layers = std::size_t(f[layers_field]);
  const auto head_dim = dim / std::size_t(f[heads_field]), kv_dim = head_dim * std::size_t(f[kv_heads_field]);
  const auto vocabulary = std::size_t(std::abs(f[vocab_field]));
  return vocabulary * dim * (f[vocab_field] < 0 ? 2 : 1) +
         layers * (2 * dim + 2 * dim * dim + 2 * dim * kv_dim + 3 * dim * hidden) + dim + std::size_t(f[seq_field]) * head_dim;
}

inline std::string header_bytes(const Header& header) {
  std::string bytes;
  for (const std::int32_t field : header.fields) put_int(bytes, field);
  return bytes;
}

// Weights are small pseudo-random numbers, so that tokens depend on everything.
inline std::string checkpoint_bytes(const Header& header) {
  std::string bytes = header_bytes(header);
  std::uint32_t state = 7;
  for (std::size_t i = 0; i < float_count(header); ++i) {
    state = state * 1664525u + 1013904223u;
    put_float(bytes, static_cast<float>(state >> 8) * 0x1p-24f - 0.5f);
  }
  return bytes;
}

inline void put_piece(std::string& bytes, const std::string& text, float score) {
  put_float(bytes, score);
  put_int(bytes, static_cast<std::int32_t>(text.size()));
  bytes += text;
}

inline constexpr int longest_piece = 7;
inline constexpr const char* text_pieces[] = {" ",  "a", "b", "c", "ab", "bc", " a", "abc", "é",  "\n", "é€",
                                              "aa", "0", "1", "4", "<",  ">",  "x",  "<0",  "x4", "1>"};

// Unknown, begin, end, all bytes, then the pieces above: the earlier, the better their score.
inline std::string tokenizer_bytes() {
  std::string bytes;
  put_int(bytes, longest_piece);
  for (const char* text : {"<unk>", "<s>", "</s>"}) put_piece(bytes, text, 0);
  for (int byte = 0; byte < byte_pieces; ++byte) {
    const char* const digits = "0123456789ABCDEF";
    put_piece(bytes, std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0);
  }
  float score = 0;
  for (const char* text : text_pieces) put_piece(bytes, text, score -= 1);
  return bytes;
}

inline int token_of(const std::string& text) {
  const auto found = std::find(std::begin(text_pieces), std::end(text_pieces), text);
  REQUIRE(found != std::end(text_pieces));
  return 3 + byte_pieces + static_cast<int>(found - std::begin(text_pieces));
}

inline int byte_token(int byte) { return 3 + byte; }

}  // namespace attend_test
