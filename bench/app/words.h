// Sentences as tokens: words of a small vocabulary, letters of all other words, digits; and pieces of actions as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app {

// The tokens with a meaning of their own; bench/app/train/vocabulary.py has the same.
constexpr int other_character = 0, begin_sentence = 1, end_action = 2, begin_action = 3;

constexpr int letter_count = 26;

// A sentence with begin_sentence before and begin_action after it.
struct Sentence {
  std::vector<int> tokens;
  std::vector<int> word_of;        // for each token, of words
  std::vector<std::string> words;  // as they are shown; the first and the last are the two marks
};

class Words {
 public:
  // pieces: of actions, then the 26 letters from first_letter on, then words in ascending order.
  Words(std::vector<std::string> pieces, int first_letter);

  // Throws Failure with what is wrong with the sentence: no word, more than longest_sentence bytes or longest_tokens tokens,
  // bytes that are no UTF-8.
  Sentence encode(std::string_view text) const;

  // Tokens before this one are what actions are made of.
  int first_letter() const { return first_letter_; }

  const std::string& piece(int token) const { return pieces_[static_cast<std::size_t>(token)]; }

 private:
  // joins: the word continues the one before it.
  void add_word(Sentence& sentence, const std::string& word, bool joins) const;

  std::vector<std::string> pieces_;
  int first_letter_;
};

constexpr std::size_t longest_sentence = 400;  // bytes
constexpr std::size_t longest_tokens = 100;    // marks included; training has seen hardly any sentence of as many

// Room for the longest action, in tokens.
constexpr int longest_action = 16;

// Where the first byte is that is no UTF-8, or npos.
std::size_t first_malformed(std::string_view text);

}  // namespace app
