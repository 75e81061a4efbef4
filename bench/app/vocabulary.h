// The pieces of text that a model knows, in the order of their tokens.
#pragma once

#include <string>
#include <vector>

#include "word_rules.h"

namespace app {

enum class PieceKind {
  text,
  whole,    // taken out of a text before the rest is: markers that a model's users defined
  byte,     // one byte of a character that has no piece
  control,  // never a part of text, and not printed: unknown, begin, end and the like
};

struct Piece {
  std::string text;  // as it is printed
  float score;       // no NaN; pieces of higher scores are formed first
  PieceKind kind;
};

// Two tokens, side by side, that become one.
struct Merge {
  int left, right;
  int joined;
};

struct Vocabulary {
  std::vector<Piece> pieces;
  int unknown = 0, begin = 1;  // unknown: stands for bytes that are no piece; -1: they are left out
  int end = -1;                // a text ends before this token, as before `begin`; -1: there is none
  bool adds_begin = true;      // texts are encoded with `begin` at their front
  bool adds_space = true;      // and with a space before them

  // Where it is so, texts are bytes, which merges join within words, those in front first. Otherwise they are characters, and
  // whatever is a piece is joined, by scores.
  bool has_merges = false;
  std::vector<Merge> merges;
  WordRules words = WordRules::none;
  bool keeps_words = false;  // a word that is a piece is taken whole, whatever merges would make of it
};

// From a file in the tokenizer format of llama2.c: int32 max_token_length, then for each piece float32 score, int32 length and
// its bytes, little endian. Throws Failure, with the file's name, unless it holds exactly `size` well-formed pieces.
Vocabulary load_vocabulary(const std::string& path, int size);

// The byte that a piece "<0xNN>" stands for, or -1.
int byte_of(const std::string& piece);

}  // namespace app
