#include "vocabulary.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "input_file.h"

namespace app {
namespace {

// No piece of any vocabulary comes near this.
constexpr int longest_piece = 1 << 16;

// Unknown, begin and end.
constexpr std::size_t control_pieces = 3;

// Bytes before the entries, and of an entry before its text.
constexpr std::size_t length_bytes = 4, entry_bytes = 8;

int hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

std::string quantity(std::uint64_t number, const char* unit) { return std::to_string(number) + " " + unit; }

// The file after max_token_length.
struct Entries {
  int longest;  // bytes of a piece, at most
  std::size_t size;
  const unsigned char* bytes;  // [size]
};

struct Entry {
  float score;
  std::string_view text;
};

// Refuses sizes that cannot hold so many pieces.
Entries read_entries(InputFile& file, std::size_t count) {
  const std::uint64_t smallest = length_bytes + count * entry_bytes;
  if (file.size() < smallest) {
    file.fail("at least " + quantity(smallest, "bytes for ") + quantity(count, "pieces"), quantity(file.size(), "bytes"));
  }
  const int longest = file.read_int32();
  if (longest < 1 || longest > longest_piece) {
    file.fail("max_token_length within 1 to " + std::to_string(longest_piece), std::to_string(longest));
  }
  const std::uint64_t largest = smallest + count * static_cast<std::uint64_t>(longest);
  if (file.size() > largest) {
    file.fail("at most " + quantity(largest, "bytes for ") + quantity(count, "pieces"), quantity(file.size(), "bytes"));
  }
  const std::uint64_t size = file.size() - length_bytes;
  return {longest, static_cast<std::size_t>(size), file.bytes(size)};
}

// The entry that begins at a byte. name: what the error calls it.
Entry entry_at(const Entries& entries, std::size_t at, const InputFile& file, const std::string& name) {
  const unsigned char* const bytes = entries.bytes + at;
  const std::size_t left = entries.size - at;
  if (left < entry_bytes) file.fail(quantity(entry_bytes, "bytes of score and length for ") + name, quantity(left, "bytes"));
  const std::int32_t score_bits = int32_at(bytes), length = int32_at(bytes + 4);
  float score;
  std::memcpy(&score, &score_bits, sizeof score);
  if (std::isnan(score)) file.fail("a number as the score of " + name, "NaN");
  if (length < 0 || length > entries.longest) {
    file.fail("a length within 0 to " + std::to_string(entries.longest) + " for " + name, std::to_string(length));
  }
  const auto size = static_cast<std::size_t>(length);
  if (size > left - entry_bytes) file.fail(quantity(size, "bytes of ") + name, quantity(left - entry_bytes, "bytes"));
  return {score, {static_cast<const char*>(static_cast<const void*>(bytes + entry_bytes)), size}};
}

}  // namespace

int byte_of(const std::string& piece) {
  if (piece.size() != 6 || piece.compare(0, 3, "<0x") != 0 || piece[5] != '>') return -1;
  const int high = hex_digit(piece[3]), low = hex_digit(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Vocabulary load_vocabulary(const std::string& path, int size) {
  InputFile file(path, "a tokenizer");
  const auto count = static_cast<std::size_t>(size);
  const Entries entries = read_entries(file, count);
  Vocabulary vocabulary;
  vocabulary.pieces.reserve(count);
  std::size_t at = 0;
  while (at < entries.size) {
    const std::size_t token = vocabulary.pieces.size();
    if (token == count) {
      file.fail("the end after " + quantity(count, "pieces, the model's vocabulary"),
                quantity(entries.size - at, "more bytes"));
    }
    const Entry entry = entry_at(entries, at, file, "piece " + std::to_string(token));
    at += entry_bytes + entry.text.size();
    const std::string text(entry.text);
    const int byte = byte_of(text);
    const PieceKind kind = byte >= 0 ? PieceKind::byte : token < control_pieces ? PieceKind::control : PieceKind::text;
    vocabulary.pieces.push_back({byte >= 0 ? std::string(1, static_cast<char>(byte)) : text, entry.score, kind});
  }
  if (vocabulary.pieces.size() != count) {
    file.fail(quantity(count, "pieces, the model's vocabulary"), quantity(vocabulary.pieces.size(), "pieces"));
  }
  return vocabulary;
}

}  // namespace app
