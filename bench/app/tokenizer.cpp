#include "tokenizer.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <queue>

#include "input_file.h"

namespace app {
namespace {

// Tokens of single bytes follow the control tokens: byte b is token b + 3.
constexpr int first_byte_token = 3;

// No piece of any vocabulary comes near this.
constexpr int longest_piece = 1 << 16;

// Bytes before the entries, and of an entry before its text.
constexpr std::size_t length_bytes = 4, entry_bytes = 8;

int hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

// The byte that a piece "<0xNN>" stands for, or -1.
int byte_of(const std::string& piece) {
  if (piece.size() != 6 || piece.compare(0, 3, "<0x") != 0 || piece[5] != '>') return -1;
  const int high = hex_digit(piece[3]), low = hex_digit(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Bytes of the UTF-8 character at the front of a text that is not empty; 1 where there is no proper one.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return length;
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

constexpr std::size_t none = std::size_t(-1);

// A stretch of the text that is one token so far; a list, as joining takes out of the middle.
struct Symbol {
  std::size_t begin, length;  // bytes; length 0 once it was joined to the one before
  std::size_t previous, next;
  int token;
  bool joins;
};

// Two neighbours that would form a piece. Outdated once either has changed, which the length tells.
struct Pair {
  float score;
  std::size_t left, right, length;
  int token;

  // The largest is joined first.
  bool operator<(const Pair& other) const { return score != other.score ? score < other.score : left > other.left; }
};

}  // namespace

Tokenizer::Tokenizer(const std::string& path, int vocab_size) {
  InputFile file(path, "a tokenizer");
  const auto count = static_cast<std::size_t>(vocab_size);
  const Entries entries = read_entries(file, count);
  pieces_.reserve(count);
  std::size_t at = 0;
  while (at < entries.size) {
    const int token = static_cast<int>(pieces_.size());
    if (pieces_.size() == count) {
      file.fail("the end after " + quantity(count, "pieces, the model's vocabulary"),
                quantity(entries.size - at, "more bytes"));
    }
    const Entry entry = entry_at(entries, at, file, "piece " + std::to_string(token));
    at += entry_bytes + entry.text.size();
    std::string text(entry.text);
    const int byte = byte_of(text);
    if (byte >= 0) text.assign(1, static_cast<char>(byte));
    if (byte < 0 && token > end_token) tokens_.emplace(text, token);
    pieces_.push_back({std::move(text), entry.score, byte >= 0});
  }
  if (pieces_.size() != count) {
    file.fail(quantity(count, "pieces, the model's vocabulary"), quantity(pieces_.size(), "pieces"));
  }
}

const int* Tokenizer::find(std::string_view text) const {
  const auto found = tokens_.find(std::string(text));
  return found == tokens_.end() ? nullptr : &found->second;
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  const std::string spaced = text.empty() ? std::string() : " " + std::string(text);
  const std::string_view all = spaced;

  // One symbol for each character that is a piece, one for each byte of any other.
  std::vector<Symbol> symbols;
  const auto add = [&symbols](std::size_t begin, std::size_t length, int token, bool joins) {
    const std::size_t index = symbols.size();
    symbols.push_back({begin, length, index == 0 ? none : index - 1, index + 1, token, joins});
  };
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t length = character_length(all.substr(at));
    if (const int* token = find(all.substr(at, length))) {
      add(at, length, *token, true);
    } else {
      for (std::size_t i = at; i < at + length; ++i) {
        const int token_of_byte = first_byte_token + static_cast<unsigned char>(all[i]);
        const bool exists = token_of_byte < vocab_size() && pieces_[static_cast<std::size_t>(token_of_byte)].is_byte;
        add(i, 1, exists ? token_of_byte : unknown_token, false);
      }
    }
    at += length;
  }
  if (!symbols.empty()) symbols.back().next = none;

  // A heap, so that a long text takes n log n steps.
  std::priority_queue<Pair> pairs;
  const auto consider = [&](std::size_t left) {
    if (left == none || symbols[left].next == none) return;
    const Symbol& first = symbols[left];
    const Symbol& second = symbols[first.next];
    if (!first.joins || !second.joins) return;
    const std::size_t length = first.length + second.length;
    const int* token = find(all.substr(first.begin, length));
    if (token != nullptr) pairs.push({pieces_[static_cast<std::size_t>(*token)].score, left, first.next, length, *token});
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) consider(i);
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    Symbol& left = symbols[pair.left];
    Symbol& right = symbols[pair.right];
    if (left.length == 0 || left.next != pair.right || left.length + right.length != pair.length) continue;
    left.length = pair.length;
    left.token = pair.token;
    left.next = right.next;
    right.length = 0;
    if (left.next != none) symbols[left.next].previous = pair.left;
    consider(left.previous);
    consider(pair.left);
  }

  std::vector<int> tokens{begin_token};
  for (std::size_t i = symbols.empty() ? none : 0; i != none; i = symbols[i].next) tokens.push_back(symbols[i].token);
  return tokens;
}

std::string_view Tokenizer::decode(int previous, int token) const {
  std::string_view text = pieces_[static_cast<std::size_t>(token)].text;
  if (previous == begin_token && !text.empty() && text[0] == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace app
