// A sentencepiece vocabulary in the tokenizer format of llama2.c: int32 max_token_length, then for each piece float32 score,
// int32 length and its bytes, little endian.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace app {

constexpr int unknown_token = 0, begin_token = 1, end_token = 2;

class Tokenizer {
 public:
  // Throws Failure, with the file's name, unless the file holds exactly vocab_size well-formed pieces.
  Tokenizer(const std::string& path, int vocab_size);

  // begin_token, then the tokens of a space and the text (of nothing, when the text is empty). Byte-pair encoding: the
  // neighbours that form the piece of the highest score are joined first, the leftmost of equals, until none do.
  std::vector<int> encode(std::string_view text) const;

  // The text of one token, given the token before it: the space that encode adds after begin_token is taken away again. A
  // piece <0xNN> is the byte NN. Valid as long as the tokenizer.
  std::string_view decode(int previous, int token) const;

  int vocab_size() const { return static_cast<int>(pieces_.size()); }

 private:
  struct WorkUnit {
    std::string text;  // as it is printed
    float score;
    bool is_byte;  // stands for one byte of a character that has no piece
  };

  const int* find(std::string_view text) const;

  std::vector<WorkUnit> pieces_;
  std::unordered_map<std::string, int> tokens_;  // of the pieces that text can contain: not those of bytes nor control tokens
};

}  // namespace app
