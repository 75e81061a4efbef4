// Tokenizers: which files are refused, with which words, and text to tokens and back.
#include <doctest/doctest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../bench/app/tokenizer.h"
#include "../support/app_checks.h"
#include "../support/model_files.h"

using namespace attend_test;

namespace {

std::string decoded(const app::Tokenizer& tokenizer, const std::vector<int>& tokens) {
  std::string text;
  for (std::size_t i = 1; i < tokens.size(); ++i) text += tokenizer.decode(tokens[i - 1], tokens[i]);
  return text;
}

}  // namespace

TEST_CASE("app: a tokenizer cut off at any byte is refused") {
  const Folder folder;
  const std::string bytes = tokenizer_bytes();
  REQUIRE(failure_of([&] { app::Tokenizer(folder.write("tokenizer.bin", bytes), small_vocabulary); }) == "");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    const std::string path = folder.write("tokenizer.bin", bytes.substr(0, length));
    check_names_file(failure_of([&] { app::Tokenizer(path, small_vocabulary); }), path);
  }
}

TEST_CASE("app: a tokenizer with anything wrong is refused") {
  const Folder folder;
  const std::string good = tokenizer_bytes();
  const auto refused = [&](const std::string& bytes, int vocab_size, const std::string& words) {
    CAPTURE(words);
    const std::string path = folder.write("tokenizer.bin", bytes);
    const std::string message = failure_of([&] { app::Tokenizer(path, vocab_size); });
    CAPTURE(message);
    check_names_file(message, path);
    CHECK(contains(message, words));
  };
  const auto changed = [&](std::size_t at, std::int32_t number) {
    std::string bytes;
    put_int(bytes, number);
    return good.substr(0, at) + bytes + good.substr(at + 4);
  };
  for (const std::int32_t longest : {0, -1, INT_MIN, INT_MAX, (1 << 16) + 1})
    refused(changed(0, longest), small_vocabulary, "max_token_length");
  refused(changed(0, 5), small_vocabulary, "at most");
  for (const std::int32_t length : {-1, INT_MIN, longest_piece + 1, INT_MAX})
    refused(changed(8, length), small_vocabulary, "length within 0 to 7 for piece 0");
  refused(changed(good.size() - 6, longest_piece), small_vocabulary, "7 bytes of piece 279, found 2 bytes");
  refused(changed(4, 0x7FC00000), small_vocabulary, "NaN");
  refused(good + "x", small_vocabulary, "found 1 more bytes");
  refused(good + std::string(8, '\0'), small_vocabulary, "found 8 more bytes");
  refused(good + std::string(4000, 'x'), small_vocabulary, "at most");
  refused(good, small_vocabulary - 1, "279 pieces");
  refused(good, small_vocabulary + 1, "281 pieces");
  refused(good, 1 << 24, "at least");
}

TEST_CASE("app: encoding joins the best pair first") {
  const Folder folder;
  const app::Tokenizer tokenizer(folder.write("tokenizer.bin", tokenizer_bytes()), small_vocabulary);
  using Tokens = std::vector<int>;
  CHECK(tokenizer.encode("") == Tokens{1});
  CHECK(tokenizer.encode("a") == Tokens{1, token_of(" a")});
  CHECK(tokenizer.encode("b") == Tokens{1, token_of(" "), token_of("b")});
  CHECK(tokenizer.encode("ab") == Tokens{1, token_of(" "), token_of("ab")});  // "ab" is worth more than " a"
  CHECK(tokenizer.encode("abc") == Tokens{1, token_of(" "), token_of("abc")});
  CHECK(tokenizer.encode("bbc") == Tokens{1, token_of(" "), token_of("b"), token_of("bc")});
  CHECK(tokenizer.encode("baaa") ==
        Tokens{1, token_of(" "), token_of("b"), token_of("aa"), token_of("a")});  // the leftmost of equals
  CHECK(tokenizer.encode("é€") ==
        Tokens{1, token_of(" "), token_of("é"), byte_token(0xE2), byte_token(0x82), byte_token(0xAC)});
  CHECK(tokenizer.encode("\xE2") == Tokens{1, token_of(" "), byte_token(0xE2)});
  // Text is never mistaken for the token of a byte, nor for a control token.
  CHECK(tokenizer.encode("<0x41>") == Tokens{1, token_of(" "), token_of("<0"), token_of("x4"), token_of("1>")});
  CHECK(tokenizer.encode("<s>").size() == 5);
}

TEST_CASE("app: what was encoded decodes to itself") {
  const Folder folder;
  const app::Tokenizer tokenizer(folder.write("tokenizer.bin", tokenizer_bytes()), small_vocabulary);
  const std::string bytes_255 = [] {
    std::string text;
    for (int byte = 1; byte < 256; ++byte) text += static_cast<char>(byte);
    return text;
  }();
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(" a"), std::string("  "), std::string("aaabbc ab"),
        std::string("é€ and ✓ and 🙂"), std::string("\xC3"), std::string("\x80\x80"), std::string("a\xF0\x9F"),
        std::string("<0x41>"), std::string("</s>"), std::string(5000, 'a'), bytes_255}) {
    CAPTURE(text);
    CHECK(decoded(tokenizer, tokenizer.encode(text)) == text);
  }
  CHECK(tokenizer.decode(1, token_of(" a")) == "a");
  CHECK(tokenizer.decode(token_of("b"), token_of(" a")) == " a");
  CHECK(tokenizer.decode(token_of("b"), byte_token(0x41)) == "A");
}
