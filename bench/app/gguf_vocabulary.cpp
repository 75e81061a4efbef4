#include "gguf_vocabulary.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "characters.h"
#include "checkpoint.h"

namespace app {
namespace {

std::string key_of(const char* name) { return std::string("tokenizer.ggml.") + name; }

std::string quoted(std::string_view text) { return "\"" + std::string(text.substr(0, 64)) + "\""; }

// Fails where an array has not one element for each piece.
void check_count(const GgufFile& file, const char* name, std::size_t found, int size) {
  if (found == std::size_t(size)) return;
  file.file().fail(std::to_string(size) + " elements of " + key_of(name) + ", as the embedding has rows",
                   std::to_string(found));
}

int token(const GgufFile& file, const char* name, int size) {
  return int(file.whole_number(key_of(name) + "_token_id", 0, size - 1));
}

int token(const GgufFile& file, const char* name, int size, int otherwise) {
  return file.has(key_of(name) + "_token_id") ? token(file, name, size) : otherwise;
}

// What the pieces are; without types in the file, by their token.
std::vector<PieceKind> read_kinds(const GgufFile& file, const Vocabulary& vocabulary, int size) {
  enum Kind { normal = 1, unknown, control, user_defined, unused, byte };
  const std::string key = key_of("token_type");
  std::vector<PieceKind> kinds(std::size_t(size), PieceKind::text);
  if (!file.has(key)) {
    for (const int special : {vocabulary.unknown, vocabulary.begin, vocabulary.end}) {
      if (special >= 0 && special < size) kinds[std::size_t(special)] = PieceKind::control;
    }
    return kinds;
  }
  const std::vector<std::int32_t> types = file.int32s(key);
  check_count(file, "token_type", types.size(), size);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::int32_t type = types[i];
    kinds[i] = type == normal         ? PieceKind::text
               : type == user_defined ? PieceKind::whole
               : type == byte         ? PieceKind::byte
                                      : PieceKind::control;
  }
  return kinds;
}

// Pieces of sentencepiece have U+2581 for a space.
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

Vocabulary read_scored(const GgufFile& file, int size) {
  const std::vector<std::string_view> texts = file.texts(key_of("tokens"));
  check_count(file, "tokens", texts.size(), size);
  std::vector<float> scores(texts.size());
  if (file.has(key_of("scores"))) scores = file.floats(key_of("scores"));
  check_count(file, "scores", scores.size(), size);
  Vocabulary vocabulary;
  vocabulary.unknown = token(file, "unknown", size, 0);
  vocabulary.begin = token(file, "bos", size, 1);
  vocabulary.end = token(file, "eos", size, 2);
  vocabulary.adds_begin = file.truth(key_of("add_bos_token"), true);
  vocabulary.adds_space = file.truth(key_of("add_space_prefix"), true);
  const bool has_kinds = file.has(key_of("token_type"));
  const std::vector<PieceKind> kinds = read_kinds(file, vocabulary, size);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (std::isnan(scores[i])) file.file().fail("a number as the score of piece " + std::to_string(i), "NaN");
    const int of_byte = byte_of(std::string(texts[i].substr(0, 8)));
    PieceKind kind = kinds[i];
    if (kind == PieceKind::byte && of_byte < 0) kind = PieceKind::control;
    if (!has_kinds && of_byte >= 0) kind = PieceKind::byte;
    vocabulary.pieces.push_back(
        {kind == PieceKind::byte ? std::string(1, static_cast<char>(of_byte)) : with_spaces(texts[i]), scores[i], kind});
  }
  return vocabulary;
}

// GPT-2's alphabet has a printable character for each byte: the byte's own in Latin 1, or, where that cannot be seen, those
// from U+0100 on in turn.
class ByteAlphabet {
 public:
  ByteAlphabet() {
    std::uint32_t next = 0x100;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool is_seen = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      bytes_.emplace(is_seen ? byte : next++, static_cast<char>(byte));
    }
  }

  // The bytes that a text stands for, if all of its characters are of the alphabet.
  std::optional<std::string> bytes(std::string_view text) const {
    std::string result;
    while (!text.empty()) {
      const Character character = first_character(text);
      const auto found = bytes_.find(character.code);
      if (found == bytes_.end()) return std::nullopt;
      result += found->second;
      text.remove_prefix(character.length);
    }
    return result;
  }

 private:
  std::unordered_map<std::uint32_t, char> bytes_;
};

std::vector<Merge> read_merges(const GgufFile& file, const std::vector<std::string_view>& texts) {
  std::unordered_map<std::string_view, int> tokens;
  for (std::size_t i = 0; i < texts.size(); ++i) tokens.emplace(texts[i], int(i));
  const std::string key = key_of("merges");
  const std::vector<std::string_view> lines = file.texts(key);
  if (lines.size() >= std::size_t(largest_extent)) {
    file.file().fail("less than " + std::to_string(largest_extent) + " elements of " + key, std::to_string(lines.size()));
  }
  std::vector<Merge> merges;
  for (const std::string_view line : lines) {
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      const auto left = tokens.find(line.substr(0, space)), right = tokens.find(line.substr(space + 1));
      const auto joined = tokens.find(std::string(line.substr(0, space)) + std::string(line.substr(space + 1)));
      if (left != tokens.end() && right != tokens.end() && joined != tokens.end()) {
        merges.push_back({left->second, right->second, joined->second});
        continue;
      }
    }
    file.file().fail("two pieces that are a piece together as element " + std::to_string(merges.size()) + " of " + key,
                     quoted(line));
  }
  return merges;
}

WordRules read_word_rules(const GgufFile& file) {
  const std::string key = key_of("pre");
  const std::string_view name = file.has(key) ? file.text(key) : "default";
  const std::optional<WordRules> rules = word_rules(name);
  if (!rules) file.file().fail(std::string(known_word_rules) + " as " + key, quoted(name));
  return *rules;
}

Vocabulary read_merged(const GgufFile& file, int size) {
  const std::vector<std::string_view> texts = file.texts(key_of("tokens"));
  check_count(file, "tokens", texts.size(), size);
  Vocabulary vocabulary;
  vocabulary.has_merges = true;
  vocabulary.words = read_word_rules(file);
  vocabulary.merges = read_merges(file, texts);
  // Llama 3's words are taken whole, and its texts have a beginning, unless the file says otherwise.
  vocabulary.keeps_words = vocabulary.words == WordRules::llama3;
  vocabulary.adds_begin = file.truth(key_of("add_bos_token"), vocabulary.words == WordRules::llama3);
  vocabulary.adds_space = false;
  vocabulary.unknown = -1;
  vocabulary.end = token(file, "eos", size, -1);
  vocabulary.begin = vocabulary.end < 0 ? token(file, "bos", size) : token(file, "bos", size, vocabulary.end);
  const std::vector<PieceKind> kinds = read_kinds(file, vocabulary, size);
  const ByteAlphabet alphabet;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    // Markers stand in the file as they are in texts.
    const PieceKind kind = kinds[i] == PieceKind::byte ? PieceKind::control : kinds[i];
    std::optional<std::string> text(std::in_place, texts[i]);
    if (kind == PieceKind::text) text = alphabet.bytes(texts[i]);
    if (!text) file.file().fail("characters that stand for bytes as piece " + std::to_string(i), quoted(texts[i]));
    vocabulary.pieces.push_back({*text, 0, kind});
  }
  return vocabulary;
}

}  // namespace

Vocabulary read_vocabulary(const GgufFile& file, int size) {
  const bool has_merges = file.known_text(key_of("model"), {"llama", "gpt2"}) == "gpt2";
  return has_merges ? read_merged(file, size) : read_scored(file, size);
}

}  // namespace app
