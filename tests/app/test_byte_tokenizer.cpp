// Text to tokens and back by merges of bytes.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "../../bench/app/tokenizer.h"
#include "../support/random.h"
#include "../support/rounds.h"

using namespace attend_test;

namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

// Bytes, what the merges make of them, then "<end>", with which texts begin, and the marker "<m>".
app::Vocabulary vocabulary_of(const Merges& merges, app::WordRules rules = app::WordRules::gpt2) {
  app::Vocabulary vocabulary;
  vocabulary.has_merges = true;
  vocabulary.words = rules;
  vocabulary.adds_space = false;
  vocabulary.unknown = -1;
  std::vector<app::Piece>& pieces = vocabulary.pieces;
  for (int byte = 0; byte < 256; ++byte) pieces.push_back({std::string(1, static_cast<char>(byte)), 0, app::PieceKind::text});
  const auto token = [&](const std::string& text) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].text == text) return int(i);
    }
    pieces.push_back({text, 0, app::PieceKind::text});
    return int(pieces.size()) - 1;
  };
  for (const auto& [left, right] : merges) vocabulary.merges.push_back({token(left), token(right), token(left + right)});
  vocabulary.begin = vocabulary.end = int(pieces.size());
  pieces.push_back({"<end>", 0, app::PieceKind::control});
  pieces.push_back({"<m>", 0, app::PieceKind::whole});
  return vocabulary;
}

using Texts = std::vector<std::string>;

// The texts of the tokens behind the first, which is the beginning.
Texts pieces_of(const app::Vocabulary& vocabulary, const std::string& text) {
  const app::Tokenizer tokenizer(vocabulary);
  const std::vector<int> tokens = tokenizer.encode(text);
  REQUIRE(tokens.at(0) == tokenizer.begin());
  Texts result;
  for (std::size_t i = 1; i < tokens.size(); ++i) result.push_back(vocabulary.pieces[std::size_t(tokens[i])].text);
  return result;
}

std::string decoded(const app::Tokenizer& tokenizer, const std::vector<int>& tokens) {
  std::string text;
  for (std::size_t i = 1; i < tokens.size(); ++i) text += tokenizer.decode(tokens[i - 1], tokens[i]);
  return text;
}

}  // namespace

TEST_CASE("app: merges join bytes in their order, the leftmost of equals first, within words") {
  const app::Vocabulary vocabulary =
      vocabulary_of({{"b", "c"}, {"a", "b"}, {"a", "bc"}, {" ", "a"}, {"a", "a"}, {"aa", "aa"}, {"x", " "}, {"ab", "c"}});
  CHECK(pieces_of(vocabulary, "") == Texts{});
  CHECK(pieces_of(vocabulary, "abc") == Texts{"abc"});  // "bc" comes before "ab"
  CHECK(pieces_of(vocabulary, "ab abx") == Texts{"ab", " ", "ab", "x"});
  CHECK(pieces_of(vocabulary, " a") == Texts{" a"});
  CHECK(pieces_of(vocabulary, "aaa") == Texts{"aa", "a"});
  CHECK(pieces_of(vocabulary, "aaaaaaa") == Texts{"aaaa", "aa", "a"});
  CHECK(pieces_of(vocabulary, "x a") == Texts{"x", " a"});  // the space belongs to the next word
  CHECK(pieces_of(vocabulary, "x ") == Texts{"x", " "});
  CHECK(pieces_of(vocabulary, "é") == Texts{"\xC3", "\xA9"});
  // Two pieces that are one together, but have no merge, stay two, whatever their texts are.
  CHECK(pieces_of(vocabulary_of({{"a", "b"}, {"b", "c"}, {"a", "bc"}}), "abc") == Texts{"ab", "c"});
  // A merge that stands there again counts where it stood first.
  CHECK(pieces_of(vocabulary_of({{"b", "c"}, {"a", "b"}, {"b", "c"}}), "abc") == Texts{"a", "bc"});
}

TEST_CASE("app: words that are pieces are taken whole where the vocabulary says so") {
  app::Vocabulary vocabulary = vocabulary_of({{"a", "b"}}, app::WordRules::llama3);
  vocabulary.pieces.push_back({" abc", 0, app::PieceKind::text});
  CHECK(pieces_of(vocabulary, " abc") == Texts{" ", "ab", "c"});
  vocabulary.keeps_words = true;
  CHECK(pieces_of(vocabulary, " abc") == Texts{" abc"});
  CHECK(pieces_of(vocabulary, "abc abcd") == Texts{"ab", "c", " ", "ab", "c", "d"});
}

TEST_CASE("app: markers are taken out of texts of bytes, control pieces are not, and bytes without a piece are left out") {
  app::Vocabulary vocabulary = vocabulary_of({{"m", ">"}, {"a", " "}, {"e", "n"}});
  CHECK(pieces_of(vocabulary, "a<m>en") == Texts{"a", "<m>", "en"});
  CHECK(pieces_of(vocabulary, "<m><m") == Texts{"<m>", "<", "m"});
  CHECK(pieces_of(vocabulary, "a <m>") == Texts{"a", " ", "<m>"});
  CHECK(pieces_of(vocabulary, "<end>") == Texts{"<", "en", "d", ">"});
  CHECK(app::Tokenizer(vocabulary).decode(0, vocabulary.end) == "");
  CHECK(app::Tokenizer(vocabulary).decode(vocabulary.begin, ' ') == " ");  // no space is added, and none taken away
  vocabulary.pieces['q'].kind = app::PieceKind::control;
  CHECK(pieces_of(vocabulary, "aqenq") == Texts{"a", "en"});
  vocabulary.adds_begin = false;
  CHECK(app::Tokenizer(vocabulary).encode("a") == std::vector<int>{'a'});
  CHECK(app::Tokenizer(vocabulary).encode("") == std::vector<int>{vocabulary.begin});
  CHECK(app::Tokenizer(vocabulary).encode("q") == std::vector<int>{vocabulary.begin});
}

TEST_CASE("app: whatever bytes were encoded by merges decode to themselves") {
  Random random(9);
  Merges merges;
  for (int i = 0; i < 300; ++i) {
    const auto any = [&] {
      const bool is_merged = !merges.empty() && random.between(0, 1) == 0;
      if (!is_merged) return std::string(1, static_cast<char>(random.between(i % 2 == 0 ? 'a' : 0, i % 2 == 0 ? 'f' : 255)));
      const auto& [left, right] = merges[std::size_t(random.between(0, int(merges.size()) - 1))];
      return left + right;
    };
    const std::string left = any(), right = any();
    merges.emplace_back(left, right);
  }
  for (const app::WordRules rules : {app::WordRules::none, app::WordRules::gpt2, app::WordRules::llama3, app::WordRules::smollm,
                                     app::WordRules::punctuation}) {
    const app::Tokenizer tokenizer(vocabulary_of(merges, rules));
    for (int i = 0; i < rounds(600); ++i) {
      std::string text;
      const int most = i % 3 == 0 ? 255 : i % 3 == 1 ? 'f' : 127, least = i % 3 == 1 ? 'a' : 0;
      for (int length = random.between(0, 80); length > 0; --length) text += static_cast<char>(random.between(least, most));
      CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
    }
    for (const std::string& text : {std::string("it's été 漢字 ١٢٣ \xC2\xA0 <end>\r\n\r\n  x"), std::string(20000, 'a')}) {
      CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
    }
  }
}
