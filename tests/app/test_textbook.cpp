// The textbook example: its numbers, against their definition, and its page.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "../../bench/app/textbook.h"
#include "../support/app_checks.h"

using namespace attend_test;

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
