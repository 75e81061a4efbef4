// How text is cut into words before merges join their bytes. What is joined never reaches over the end of a word.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace app {

enum class WordRules {
  none,         // all of it is one word
  gpt2,         // contractions; letters, numbers or other characters with a space before them; white space
  llama3,       // the same with numbers of at most three digits, one character of any kind before letters, and lines
  smollm,       // every digit is a word; between digits as gpt2
  punctuation,  // runs of punctuation are words; between them as gpt2, then numbers apart, in threes
};

// The rules of the name that tokenizer.ggml.pre gives them, if it is a known one.
std::optional<WordRules> word_rules(std::string_view name);

// All of those names, for messages.
inline constexpr std::string_view known_word_rules = R"("gpt-2", "llama-bpe", "smollm" or "default")";

// The bytes of the words of a text, which are all of its bytes. A byte that is in no proper character of UTF-8 is a character
// of no class.
std::vector<std::size_t> word_lengths(std::string_view text, WordRules rules);

}  // namespace app
