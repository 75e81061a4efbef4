#include "words.h"

#include <algorithm>
#include <cstdint>

#include "input_file.h"

namespace app {
namespace {

// As in training: the letters of a word that is not in the vocabulary, at most.
constexpr std::size_t longest_spelling = 6;

bool is_letter(char character) { return character >= 'a' && character <= 'z'; }

// What is a token of its own.
bool is_symbol(char character) { return (character >= '0' && character <= '9') || character == ':' || character == '%'; }

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Bytes of the well-formed character that begins a text, or 0: neither overlong nor a surrogate nor beyond U+10FFFF.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes > text.size()) return 0;
  std::uint32_t code = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  return surrogate || overlong || code > 0x10FFFF ? 0 : bytes;
}

// The sentence in lower case and without apostrophes, typed or typeset, which stand inside words.
std::string plain(std::string_view text) {
  constexpr std::string_view typeset = "\xE2\x80\x99";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, typeset.size(), typeset) == 0) {
      i += typeset.size() - 1;
    } else if (text[i] != '\'') {
      result += lower(text[i]);
    }
  }
  return result;
}

[[noreturn]] void refuse(const std::string& expected, const std::string& found) {
  throw Failure("the sentence: expected " + expected + ", found " + found);
}

}  // namespace

std::size_t first_malformed(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

Words::Words(std::vector<std::string> pieces, int first_letter) : pieces_(std::move(pieces)), first_letter_(first_letter) {}

Sentence Words::encode(std::string_view text) const {
  if (text.size() > longest_sentence) {
    refuse("at most " + std::to_string(longest_sentence) + " bytes", std::to_string(text.size()));
  }
  const std::size_t malformed = first_malformed(text);
  if (malformed != std::string_view::npos) refuse("UTF-8", "something else at byte " + std::to_string(malformed));
  Sentence sentence{{begin_sentence}, {0}, {piece(begin_sentence)}};
  const std::string line = plain(text);
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    if (is_letter(line[at])) {
      while (end < line.size() && is_letter(line[end])) ++end;
    } else {
      while (end < line.size() && is_continuation(line[end])) ++end;
    }
    const bool other = static_cast<unsigned char>(line[at]) >= 0x80;
    // Digits that touch are one number to whoever reads the words.
    const bool joins = at > 0 && is_symbol(line[at]) && is_symbol(line[at - 1]);
    if (is_letter(line[at]) || is_symbol(line[at]) || other) add_word(sentence, line.substr(at, end - at), joins);
    at = end;
  }
  if (sentence.words.size() == 1) refuse("at least one word", "none");
  sentence.tokens.push_back(begin_action);
  sentence.word_of.push_back(static_cast<int>(sentence.words.size()));
  sentence.words.push_back(piece(begin_action));
  if (sentence.tokens.size() > longest_tokens) {
    refuse("at most " + std::to_string(longest_tokens) + " tokens", std::to_string(sentence.tokens.size()));
  }
  return sentence;
}

void Words::add_word(Sentence& sentence, const std::string& word, bool joins) const {
  if (joins) {
    sentence.words.back() += word;
  } else {
    sentence.words.push_back(word);
  }
  const int index = static_cast<int>(sentence.words.size()) - 1;
  const auto add = [&](int token) {
    sentence.tokens.push_back(token);
    sentence.word_of.push_back(index);
  };
  const auto first_word = pieces_.begin() + first_letter_ + letter_count;
  const auto found = std::lower_bound(first_word, pieces_.end(), word);
  if (found != pieces_.end() && *found == word) {
    add(static_cast<int>(found - pieces_.begin()));
  } else if (is_letter(word[0])) {
    for (std::size_t i = 0; i < std::min(word.size(), longest_spelling); ++i) add(first_letter_ + (word[i] - 'a'));
  } else {
    const auto symbol = std::find(pieces_.begin(), pieces_.begin() + first_letter_, word);
    add(symbol == pieces_.begin() + first_letter_ ? other_character : static_cast<int>(symbol - pieces_.begin()));
  }
}

}  // namespace app
