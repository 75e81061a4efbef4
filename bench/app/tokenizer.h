// Text to tokens and back, by byte-pair encoding: of characters with scores, as sentencepiece does it, or of bytes with merges,
// as GPT-2 does.
#pragma once

#include <cstdint>
#include <optional>
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

  // The vocabulary's begin, then the tokens of a space and the text (of nothing, when the text is empty), as far as the
  // vocabulary adds them; one token at least. The neighbours that form the piece of the highest score, or by the merge that
  // comes first, are joined first, the leftmost of equals, until none do.
  std::vector<int> encode(std::string_view text) const;

  // The text of one token, given the token before it: the space that encode adds after the beginning is taken away again.
  // Empty for control pieces. Valid as long as the tokenizer.
  std::string_view decode(int previous, int token) const;

  int begin() const { return vocabulary_.begin; }

  // Whether a text is over before this token.
  bool ends(int token) const { return token == vocabulary_.begin || token == vocabulary_.end; }

  int vocab_size() const { return static_cast<int>(vocabulary_.pieces.size()); }

 private:
  // A stretch of the text that is one token so far; a list, as joining takes out of the middle.
  struct Symbol {
    std::size_t begin, length;  // bytes; length 0 once it was joined to the one before
    std::size_t previous, next;
    int token;  // or -1
    int word;   // only symbols of one word are joined; -1: none
  };

  // What two neighbours become, and which are joined first: those of the highest order.
  struct Joined {
    float order;
    int token;
  };

  const int* find(std::string_view text) const;
  int marker_at(std::string_view text) const;  // the longest piece of PieceKind::whole that the text begins with, or -1
  void add_text(std::string_view all, std::size_t begin, std::size_t end, std::vector<Symbol>& symbols) const;
  void add_words(std::string_view all, std::size_t begin, std::size_t end, std::vector<Symbol>& symbols) const;
  std::vector<Symbol> symbols_of(std::string_view all) const;
  std::optional<Joined> joined(std::string_view all, const Symbol& left, const Symbol& right) const;
  void join_neighbours(std::string_view all, std::vector<Symbol>& symbols) const;
  const Piece& piece(int token) const { return vocabulary_.pieces[static_cast<std::size_t>(token)]; }

  Vocabulary vocabulary_;
  std::vector<int> whole_;
  int byte_tokens_[256];
  std::unordered_map<std::string, int> tokens_;       // of the pieces that text can contain
  std::unordered_map<std::uint64_t, Joined> merges_;  // by both tokens
};

}  // namespace app
