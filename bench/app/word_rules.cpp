#include "word_rules.h"

#include <utility>

#include "characters.h"

namespace app {
namespace {

struct Letter {
  std::uint32_t code;
  CharacterClass kind;
  std::size_t begin;  // in bytes
};

// Some characters of a text. What lies before and behind them is not seen.
struct Stretch {
  const Letter* letters;
  std::size_t size;

  std::uint32_t code(std::size_t at) const { return at < size ? letters[at].code : 0; }
  bool is(std::size_t at, CharacterClass kind) const { return at < size && letters[at].kind == kind; }
  bool is_mark(std::size_t at) const { return is(at, CharacterClass::other) || is(at, CharacterClass::punctuation); }
  bool is_line_end(std::size_t at) const { return at < size && (code(at) == '\r' || code(at) == '\n'); }

  // The end of those that follow as long as they have a property.
  template <class Property>
  std::size_t end_of(std::size_t at, Property property) const {
    while (at < size && property(at)) ++at;
    return at;
  }
  std::size_t end_of_class(std::size_t at, CharacterClass kind) const {
    return end_of(at, [&](std::size_t i) { return is(i, kind); });
  }
  std::size_t end_of_marks(std::size_t at) const {
    return end_of(at, [&](std::size_t i) { return is_mark(i); });
  }
};

// The end of the first word of a stretch that is not empty.
using Rule = std::size_t (*)(const Stretch& stretch);

// Characters of 's 't 'm 'd 're 've 'll at the front, or 0.
std::size_t contraction(const Stretch& stretch, bool any_case) {
  const auto letter = [&](std::size_t at) {
    const std::uint32_t code = stretch.code(at);
    return any_case && code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
  };
  if (letter(0) != '\'') return 0;
  const std::uint32_t first = letter(1), second = letter(2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  return ((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l') ? 3 : 0;
}

// White space at the front: all of it at the end of the text, otherwise without the last one, which belongs to the next word or
// is a word of its own.
std::size_t end_of_spaces(const Stretch& stretch) {
  const std::size_t end = stretch.end_of_class(0, CharacterClass::space);
  return end == stretch.size || end == 1 ? end : end - 1;
}

//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2_word(const Stretch& stretch) {
  if (const std::size_t end = contraction(stretch, false)) return end;
  const std::size_t first = stretch.code(0) == ' ' ? 1 : 0;
  for (const CharacterClass kind : {CharacterClass::letter, CharacterClass::number}) {
    if (stretch.is(first, kind)) return stretch.end_of_class(first, kind);
  }
  return stretch.is_mark(first) ? stretch.end_of_marks(first) : end_of_spaces(stretch);
}

//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::size_t llama3_word(const Stretch& stretch) {
  using Class = CharacterClass;
  if (const std::size_t end = contraction(stretch, true)) return end;
  const bool may_lead = !stretch.is_line_end(0) && !stretch.is(0, Class::number);
  if (stretch.is(0, Class::letter) || (may_lead && stretch.is(1, Class::letter))) return stretch.end_of_class(1, Class::letter);
  if (stretch.is(0, Class::number))
    return Stretch{stretch.letters, stretch.size < 3 ? stretch.size : 3}.end_of_class(1, Class::number);
  const auto is_line_end = [&](std::size_t i) { return stretch.is_line_end(i); };
  const std::size_t first = stretch.code(0) == ' ' ? 1 : 0;
  if (stretch.is_mark(first)) return stretch.end_of(stretch.end_of_marks(first), is_line_end);
  for (std::size_t end = stretch.end_of_class(0, Class::space); end > 0; --end) {
    if (is_line_end(end - 1)) return end;
  }
  return end_of_spaces(stretch);
}

// What has a property, and what lies between.
template <class Property>
std::size_t end_of_run(const Stretch& stretch, Property property) {
  const bool has = property(std::size_t(0));
  return stretch.end_of(0, [&](std::size_t at) { return property(at) == has; });
}

std::size_t digit_word(const Stretch& stretch) {
  const auto is_number = [&](std::size_t at) { return stretch.is(at, CharacterClass::number); };
  return is_number(0) ? 1 : end_of_run(stretch, is_number);
}

std::size_t number_word(const Stretch& stretch) {
  return end_of_run(stretch, [&](std::size_t at) { return stretch.is(at, CharacterClass::number); });
}

std::size_t punctuation_word(const Stretch& stretch) {
  return end_of_run(stretch, [&](std::size_t at) {
    const std::uint32_t code = stretch.code(at);
    const bool sign = code == '$' || code == '+' || (code >= '<' && code <= '>') || code == '^' || code == '~' || code == '|';
    return sign || stretch.is(at, CharacterClass::punctuation);
  });
}

// Three digits of ASCII, or what comes before such.
std::size_t threes_word(const Stretch& stretch) {
  const auto digit = [&](std::size_t at) { return stretch.code(at) >= '0' && stretch.code(at) <= '9'; };
  const auto begins = [&](std::size_t at) { return digit(at) && digit(at + 1) && digit(at + 2); };
  return begins(0) ? 3 : stretch.end_of(0, [&](std::size_t at) { return !begins(at); });
}

// The rules cut one after the other, each what the one before has left in one piece.
std::vector<Rule> rules_of(WordRules rules) {
  switch (rules) {
    case WordRules::gpt2:
      return {gpt2_word};
    case WordRules::llama3:
      return {llama3_word};
    case WordRules::smollm:
      return {digit_word, gpt2_word};
    case WordRules::punctuation:
      return {punctuation_word, gpt2_word, number_word, threes_word};
    default:
      return {};
  }
}

}  // namespace

std::optional<WordRules> word_rules(std::string_view name) {
  constexpr std::pair<std::string_view, WordRules> known[] = {{"gpt-2", WordRules::gpt2},
                                                              {"llama-bpe", WordRules::llama3},
                                                              {"smollm", WordRules::smollm},
                                                              {"default", WordRules::punctuation}};
  for (const auto& [known_name, rules] : known) {
    if (known_name == name) return rules;
  }
  return std::nullopt;
}

std::vector<std::size_t> word_lengths(std::string_view text, WordRules rules) {
  std::vector<Letter> letters;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    letters.push_back({character.code, class_of(character.code), at});
    at += character.length;
  }
  std::vector<std::size_t> counts;  // of characters in each word
  if (!letters.empty()) counts.push_back(letters.size());
  for (const Rule rule : rules_of(rules)) {
    std::vector<std::size_t> shorter;
    const Letter* at = letters.data();
    for (std::size_t left : counts) {
      while (left > 0) {
        const std::size_t count = rule({at, left});
        shorter.push_back(count);
        at += count, left -= count;
      }
    }
    counts = std::move(shorter);
  }
  letters.push_back({0, CharacterClass::other, text.size()});
  std::vector<std::size_t> lengths;
  std::size_t at = 0;
  for (const std::size_t count : counts) {
    lengths.push_back(letters[at + count].begin - letters[at].begin);
    at += count;
  }
  return lengths;
}

}  // namespace app
