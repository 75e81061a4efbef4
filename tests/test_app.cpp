// The application's parts, called directly: what they read, what they refuse and with which words, and what they write.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "../bench/checkpoint.h"
#include "../bench/command_line.h"
#include "../bench/generate.h"
#include "../bench/llama.h"
#include "../bench/sampler.h"
#include "../bench/textbook.h"
#include "../bench/tokenizer.h"
#include "app_checks.h"
#include "model_files.h"

using namespace attend_test;

TEST_CASE("app: the command line is taken as given or refused") {
  using Words = std::vector<const char*>;
  const auto parse = [](Words words) {
    words.insert(words.begin(), "run");
    return app::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  const app::CommandLine none = parse({});
  CHECK(none.model.empty());
  CHECK(none.temperature == 0);
  const app::CommandLine all = parse({"--model", "m", "--tokenizer", "t", "--prompt", "--steps", "--steps", "12",
                                      "--temperature", "0.5", "--top-p", "1", "--seed", "18446744073709551615"});
  CHECK(all.model == "m");
  CHECK(all.tokenizer == "t");
  CHECK(all.prompt == "--steps");
  CHECK(all.steps == 12);
  CHECK(all.temperature == 0.5f);
  CHECK(all.top_p == 1.0f);
  CHECK(all.seed == UINT64_MAX);
  CHECK(all.ignored.empty());
  CHECK(parse({"--steps", "3"}).ignored == "--steps");
  CHECK(parse({"--help"}).help);

  const auto refused = [&](const Words& words) {
    CAPTURE(std::string(words.back()));
    CHECK_THROWS_AS(parse(words), app::UsageError);
    CHECK(contains(failure_of([&] { parse(words); }), words[0]));
  };
  for (const char* wrong : {"abc", "", "-1", "-0", "+1", "1.5", " 1", "1 ", "99999999999999999999"})
    refused({"--steps", wrong});
  for (const char* wrong : {"-0.1", "nan", "inf", "1e99", "0.5x", "", ".", " 1"}) refused({"--temperature", wrong});
  for (const char* wrong : {"0", "1.01", "-1", "nan", "all"}) refused({"--top-p", wrong});
  for (const char* wrong : {"-1", "18446744073709551616", "x"}) refused({"--seed", wrong});
  for (const char* option : {"--model", "--tokenizer"}) refused({option, ""});
  for (const char* option : {"--steps", "--model", "--prompt", "--unknown", "story", ""}) refused({option});
  CHECK(contains(failure_of([&] { parse({"--model", "m"}); }), "--tokenizer"));
  CHECK(contains(failure_of([&] { parse({"--tokenizer", "t"}); }), "--model"));
}

TEST_CASE("app: the textbook example is right, and the same under every backend") {
  const app::Textbook first = app::compute_textbook();
  under_every_backend([&] {
    const app::Textbook book = app::compute_textbook();
    CHECK(std::memcmp(&book.full, &first.full, sizeof book.full) == 0);
    CHECK(std::memcmp(&book.causal, &first.causal, sizeof book.causal) == 0);
    CHECK(std::memcmp(book.word_by_word, book.causal.context, sizeof book.word_by_word) == 0);
    for (const app::TextbookMask* mask : {&book.full, &book.causal}) {
      for (int i = 0; i < app::word_count; ++i) {
        const int seen = mask == &book.causal ? i + 1 : app::word_count;
        double total = 0, sum = 0;
        for (int j = 0; j < seen; ++j) total += std::exp(book.scores[i][j]);
        for (int j = 0; j < app::word_count; ++j) {
          const double weight = double(mask->weights[i][j]);
          sum += weight;
          if (j < seen) CHECK(std::abs(weight - std::exp(book.scores[i][j]) / total) < 3e-7);
          if (j >= seen) CHECK(weight == 0);
        }
        CHECK(std::abs(sum - 1) < 1e-6);
        for (int column = 0; column < app::context_dim; ++column) {
          double expected = 0;
          for (int j = 0; j < seen; ++j) expected += double(mask->weights[i][j]) * double(book.value[j][column]);
          CHECK(std::abs(double(mask->context[i][column]) - expected) < 1e-6);
        }
      }
    }
  });
}

TEST_CASE("app: the textbook page fits a terminal") {
  const std::string plain = app::textbook_page(false);
  CHECK(!contains(plain, "\x1b"));
  CHECK(!contains(plain, "NO\n"));
  CHECK(contains(app::textbook_page(true), "\x1b[48;5;"));
  int lines = 0, columns = 0;
  for (const char character : plain) {
    if ((static_cast<unsigned char>(character) & 0xC0) != 0x80) ++columns;  // not within a character
    if (character != '\n') continue;
    CHECK(columns - 1 <= 100);
    columns = 0;
    ++lines;
  }
  CHECK(lines <= 60);
}
