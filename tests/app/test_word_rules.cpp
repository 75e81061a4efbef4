// Text cut into words before merges: the rules of each name, and classes of characters.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../bench/app/characters.h"
#include "../../bench/app/word_rules.h"
#include "../support/random.h"
#include "../support/rounds.h"

using namespace attend_test;
using app::CharacterClass, app::WordRules;

namespace {

using Words = std::vector<std::string>;

Words words(const std::string& text, WordRules rules) {
  Words result;
  std::size_t at = 0;
  for (const std::size_t length : app::word_lengths(text, rules)) {
    result.push_back(text.substr(at, length));
    at += length;
  }
  REQUIRE(at == text.size());
  return result;
}

constexpr WordRules all_rules[] = {WordRules::gpt2, WordRules::llama3, WordRules::smollm, WordRules::punctuation};

}  // namespace

TEST_CASE("app: GPT-2's words begin with the space before them") {
  const auto cut = [](const std::string& text) { return words(text, WordRules::gpt2); };
  CHECK(cut("").empty());
  CHECK(cut("Hello World, again") == Words{"Hello", " World", ",", " again"});
  CHECK(cut("I'm sure they're, we've, it'll; don't he'd she's") == Words{"I", "'m", " sure", " they", "'re", ",", " we", "'ve",
                                                                         ",", " it", "'ll", ";", " don", "'t", " he", "'d",
                                                                         " she", "'s"});
  CHECK(cut("DON'T 'LL") == Words{"DON", "'", "T", " '", "LL"});  // small letters alone
  CHECK(cut("''s 's '") == Words{"''", "s", " '", "s", " '"});
  CHECK(cut("'r 'l") == Words{"'", "r", " '", "l"});
  CHECK(cut("a1b 2024,") == Words{"a", "1", "b", " 2024", ","});
  CHECK(cut("x  y") == Words{"x", " ", " y"});
  CHECK(cut("x\n y\n\nz") == Words{"x", "\n", " y", "\n", "\n", "z"});
  CHECK(cut("x\t\ty") == Words{"x", "\t", "\t", "y"});
  CHECK(cut("x  ") == Words{"x", "  "});  // white space at the end is one word
  CHECK(cut(" \n ") == Words{" \n "});
  CHECK(cut("<|end|>...") == Words{"<|", "end", "|>..."});
}

TEST_CASE("app: letters, numbers and white space are those of Unicode") {
  const auto cut = [](const std::string& text) { return words(text, WordRules::gpt2); };
  CHECK(cut("été größer ß") == Words{"été", " größer", " ß"});
  CHECK(cut("漢字かな Привет") == Words{"漢字かな", " Привет"});
  CHECK(cut("x١٢٣ ½Ⅷ²") == Words{"x", "١٢٣", " ½Ⅷ²"});  // digits of Arabic, fractions, numerals, small digits
  CHECK(cut("x\xC2\xA0y\xC2\xA0") == Words{"x", "\xC2\xA0", "y", "\xC2\xA0"});  // a no-break space is white, but leads no word
  CHECK(cut("x\xE3\x80\x80\xE3\x80\x80y") == Words{"x", "\xE3\x80\x80", "\xE3\x80\x80", "y"});
  CHECK(cut("e\xCC\x81!") == Words{"e", "\xCC\x81!"});  // an accent by itself is no letter
  CHECK(cut("a\xE2\x80\x8B"
            "b") == Words{"a", "\xE2\x80\x8B", "b"});  // nor is a space without width, and it is not white
  CHECK(cut("🙂🙂x") == Words{"🙂🙂", "x"});
  CHECK(cut("\xFF"
            "a\xC3") == Words{"\xFF", "a", "\xC3"});  // bytes that are no characters
  CHECK(cut("\xC3\xC3\xA9\xF0\x9F\x99") == Words{"\xC3", "é", "\xF0\x9F\x99"});

  // More bytes than a character needs, halves of pairs, what lies behind the last: no characters, and so no white space.
  for (const std::string text : {"\xC0\xA0", "\xC1\x81", "\xE0\x80\xA0", "\xF0\x80\x80\xA0", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF\xBF\xBF\xBF"}) {
    CHECK(app::first_character(text).code == 0xFFFD);
    CHECK(app::first_character(text).length == 1);
  }
  for (const std::string text : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(app::first_character(text).length == text.size());
  }
  CHECK(app::class_of('_') == CharacterClass::punctuation);
  CHECK(app::class_of('$') == CharacterClass::other);
  CHECK(app::class_of(0) == CharacterClass::other);
  CHECK(app::class_of(0x1C) == CharacterClass::other);  // a separator of files
  CHECK(app::class_of(0x85) == CharacterClass::space);
  CHECK(app::class_of(0x4E00) == CharacterClass::letter);
  CHECK(app::class_of(0x3007) == CharacterClass::number);
  CHECK(app::class_of(0x10FFFF) == CharacterClass::other);
  CHECK(app::class_of(0x110000) == CharacterClass::other);
  CHECK(app::class_of(0xFFFFFFFF) == CharacterClass::other);
  int counts[5] = {};
  for (std::uint32_t code = 0; code < 0x110000; ++code) ++counts[int(app::class_of(code))];
  CHECK(counts[int(CharacterClass::letter)] == 136726);  // of Unicode 15.1
  CHECK(counts[int(CharacterClass::number)] == 1831);
  CHECK(counts[int(CharacterClass::punctuation)] == 842);
  CHECK(counts[int(CharacterClass::space)] == 25);
}

TEST_CASE("app: Llama 3's words have three digits at most, a sign before letters, and end with lines") {
  const auto cut = [](const std::string& text) { return words(text, WordRules::llama3); };
  CHECK(cut("12345678 12") == Words{"123", "456", "78", " ", "12"});
  CHECK(cut("١٢٣٤") == Words{"١٢٣", "٤"});
  CHECK(cut("DON'T don't 'LLx") == Words{"DON", "'T", " don", "'t", " '", "LLx"});
  CHECK(cut("x'S'Re'vE") == Words{"x", "'S", "'Re", "'vE"});
  CHECK(cut("(word) [x]_y\tz") == Words{"(word", ")", " [", "x", "]_", "y", "\tz"});
  CHECK(cut("x\xC2\xA0y") == Words{"x", "\xC2\xA0y"});
  CHECK(cut("1a\na") == Words{"1", "a", "\n", "a"});
  CHECK(cut("end. \n\n next") == Words{"end", ".", " \n\n", " next"});
  CHECK(cut("{\n\n}!\r\n") == Words{"{\n\n", "}!\r\n"});
  CHECK(cut("x\n  \n  y") == Words{"x", "\n  \n", " ", " y"});
  CHECK(cut("x   y") == Words{"x", "  ", " y"});
  CHECK(cut("x  1") == Words{"x", " ", " ", "1"});
  CHECK(cut("x  ") == Words{"x", "  "});
}

TEST_CASE("app: every digit is a word of SmolLM's; the default cuts punctuation and threes of digits") {
  const auto smollm = [](const std::string& text) { return words(text, WordRules::smollm); };
  CHECK(smollm("in 2024x") == Words{"in", " ", "2", "0", "2", "4", "x"});
  CHECK(smollm("x  1½") == Words{"x", "  ", "1", "½"});  // nothing is seen behind what was cut
  CHECK(smollm("it's 漢字") == Words{"it", "'s", " 漢字"});
  const auto punctuation = [](const std::string& text) { return words(text, WordRules::punctuation); };
  CHECK(punctuation("it's (a+b) #1") == Words{"it", "'", "s", " ", "(", "a", "+", "b", ")", " ", "#", "1"});
  CHECK(punctuation(" 1234567") == Words{" ", "123", "456", "7"});
  CHECK(punctuation("x١٢٣٤") == Words{"x", "١٢٣٤"});
  CHECK(punctuation("`a`~") == Words{"`", "a", "`", "~"});
}

TEST_CASE("app: rules have the names that files give them, and words are all of a text") {
  CHECK(app::word_rules("gpt-2") == WordRules::gpt2);
  CHECK(app::word_rules("llama-bpe") == WordRules::llama3);
  CHECK(app::word_rules("smollm") == WordRules::smollm);
  CHECK(app::word_rules("default") == WordRules::punctuation);
  CHECK_FALSE(app::word_rules("qwen2"));
  CHECK_FALSE(app::word_rules(""));
  CHECK(words("a b", WordRules::none) == Words{"a b"});
  Random random(3);
  for (int i = 0; i < rounds(2000); ++i) {
    std::string text;
    for (int length = random.between(0, 30); length > 0; --length) text += static_cast<char>(random.between(0, 255));
    for (const WordRules rules : all_rules) {
      for (const std::string& word : words(text, rules)) CHECK(!word.empty());
    }
  }
}
