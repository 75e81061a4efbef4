// Text to tokens and back, by byte-pair encoding with scores, as sentencepiece does it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vocabulary.h"

namespace app {

class Tokenizer {
 public:
  explicit Tokenizer(Vocabulary vocabulary);

  // As load_vocabulary.
  Tokenizer(const std::string& path, int vocab_size) : Tokenizer(load_vocabulary(path, vocab_size)) {}

  // The vocabulary's begin, then the tokens of a space and the text (of nothing, when the text is empty); one token at least.
  // The neighbours that form the piece of the highest score are joined first, the leftmost of equals, until none do.
  std::vector<int> encode(std::string_view text) const;

  // The text of one token, given the token before it: the space that encode adds after the beginning is taken away again.
  // Empty for control pieces. Valid as long as the tokenizer.
  std::string_view decode(int previous, int token) const;

  int begin() const { return vocabulary_.begin; }

  // Whether a text is over before this token.
  bool ends(int token) const { return token == vocabulary_.begin || token == vocabulary_.end; }

  int vocab_size() const { return static_cast<int>(vocabulary_.pieces.size()); }

 private:
  const int* find(std::string_view text) const;
  int marker_at(std::string_view text) const;  // the longest piece of PieceKind::whole that the text begins with, or -1
  const Piece& piece(int token) const { return vocabulary_.pieces[static_cast<std::size_t>(token)]; }

  Vocabulary vocabulary_;
  std::vector<int> whole_;
  int byte_tokens_[256];
  std::unordered_map<std::string, int> tokens_;  // of the pieces that text can contain
};

}  // namespace app
