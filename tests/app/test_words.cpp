// Sentences become tokens as in training, and what is no sentence is refused.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../../bench/app/words.h"
#include "../support/app_checks.h"

using namespace attend_test;

namespace {

// 20 pieces of actions, the letters from 20 on, the words from 46 on.
app::Words small_words() {
  std::vector<std::string> pieces{"?", "<begin>", "<end>", "=>"};
  for (char digit = '0'; digit <= '9'; ++digit) pieces.push_back(std::string(1, digit));
  pieces.insert(pieces.end(), {":", "%", "unknown", "light.on", " room=hall", " level="});
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.push_back(std::string(1, letter));
  pieces.insert(pieces.end(), {"dont", "lamp", "the"});
  return app::Words(std::move(pieces), 20);
}

constexpr int digit = 4, percent = 15, letter = 20, dont = 46, lamp = 47, the = 48;

using Tokens = std::vector<int>;

}  // namespace

TEST_CASE("app: sentences are words, letters of other words, digits") {
  const app::Words words = small_words();
  const auto tokens = [&](const char* text) {
    const Tokens all = words.encode(text).tokens;
    REQUIRE(all.front() == app::begin_sentence);
    REQUIRE(all.back() == app::begin_action);
    return Tokens(all.begin() + 1, all.end() - 1);
  };
  CHECK(tokens("the lamp") == Tokens{the, lamp});
  CHECK(tokens("  The,LAMP!\n") == Tokens{the, lamp});
  CHECK(tokens("don't") == Tokens{dont});
  CHECK(tokens("don\xE2\x80\x99t") == Tokens{dont});
  CHECK(tokens("35% a") == Tokens{digit + 3, digit + 5, percent, letter});
  CHECK(tokens("lamps") == Tokens{letter + 11, letter, letter + 12, letter + 15, letter + 18});
  CHECK(tokens("abcdefgh the") == Tokens{letter, letter + 1, letter + 2, letter + 3, letter + 4, letter + 5, the});
  CHECK(tokens("the\xC3\xA9lamp\xF0\x9F\x92\xA1") == Tokens{the, app::other_character, lamp, app::other_character});
  CHECK(tokens("the2lamp") == Tokens{the, digit + 2, lamp});

  const app::Sentence sentence = words.encode("The hall 30 3");
  CHECK(sentence.words == std::vector<std::string>{"<begin>", "the", "hall", "30", "3", "=>"});
  CHECK(sentence.word_of == Tokens{0, 1, 2, 2, 2, 2, 3, 3, 4, 5});
}

TEST_CASE("app: what is no sentence is refused in one line") {
  const app::Words words = small_words();
  const auto refused = [&](const std::string& text, const char* reason) {
    const std::string message = failure_of([&] { words.encode(text); });
    CAPTURE(message);
    CHECK(contains(message, reason));
    CHECK(contains(message, "the sentence: expected "));
    CHECK(!contains(message, "\n"));
    CHECK(message.size() < 100);
  };
  refused("", "at least one word");
  refused(" \t\n.,!?'", "at least one word");
  refused(std::string(10000, 'a'), "at most 400 bytes, found 10000");
  refused(std::string(app::longest_sentence + 1, ' '), "at most 400 bytes");
  for (const char* wrong : {"lamp \xFF", "\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                            "\xF0\x9F\x92", "\xE2\x80", "\xF8\x88\x80\x80\x80"})
    refused(wrong, "UTF-8");
  CHECK(app::first_malformed("lamp \xFF") == 5);
  CHECK(app::first_malformed("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x92\xA1 \xED\x9F\xBF") == std::string::npos);

  // As many tokens as fit, and one more.
  std::string text;
  for (std::size_t i = 2; i < app::longest_tokens; ++i) text += "1 ";
  CHECK(words.encode(text).tokens.size() == app::longest_tokens);
  refused(text + "1", "at most 100 tokens, found 101");
}
