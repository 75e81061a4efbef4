// The page that shows the textbook example.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "shades.h"
#include "textbook.h"

namespace app {
namespace {

constexpr const char* words[word_count] = {"Life", "is", "short", "eat", "dessert", "first"};
constexpr int shown_entries = 3;  // of each vector, as many as fit beside each other
constexpr int context_entries = 8;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

class Page {
 public:
  explicit Page(bool colour) : colour_(colour) {}

  const std::string& text() const { return text_; }

  void heading(const char* number, const char* title, const char* explanation) {
    text_ += "\n" + bold(std::string(number) + "  " + title) + " – " + explanation + "\n";
  }

  void line(const std::string& text) { text_ += text + "\n"; }

  void columns(int width, const char* after) {
    text_ += format("   %8s", "");
    for (const char* word : words) text_ += format("%*s", width, word);
    line(after);
  }

  // A table [query][key] of numbers.
  void scores(const double (&scores)[word_count][word_count]) {
    columns(9, "");
    for (int i = 0; i < word_count; ++i) {
      text_ += format("   %-8s", words[i]);
      for (const double score : scores[i]) text_ += format("%9.2f", score);
      line("");
    }
  }

  // The same as a heat map, without what a causal mask masks.
  void weights(const float (&weights)[word_count][word_count], bool causal) {
    columns(9, "      sum");
    for (int i = 0; i < word_count; ++i) {
      text_ += format("   %-8s", words[i]);
      float sum = 0;
      for (int j = 0; j < word_count; ++j) {
        sum += weights[i][j];
        text_ += causal && j > i ? "        ·" : cell(weights[i][j]);
      }
      line(format("   = %.3f", double(sum)));
    }
  }

  // Of the block characters of a heat map.
  void legend() {
    if (!colour_) line(std::string("   ") + block_legend + "   · not seen");
  }

 private:
  std::string bold(const std::string& text) const { return colour_ ? "\x1b[1m" + text + "\x1b[0m" : text; }

  // 9 columns.
  std::string cell(float weight) const {
    const Shade& shade = shade_of(weight);
    if (!colour_) return std::string(" ") + shade.block + shade.block + format(" %.3f", double(weight));
    return format("\x1b[48;5;%d;38;5;%dm  %.3f  \x1b[0m", shade.background, shade.foreground, double(weight));
  }

  bool colour_;
  std::string text_;
};

// The first few of a vector's entries.
std::string entries(const float* vector, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += format("%6.2f", double(vector[i]));
  return text + " …";
}

// Largest difference from a float64 softmax of the scores.
double weight_error(const Textbook& book, const TextbookMask& mask, bool causal) {
  double error = 0;
  for (int i = 0; i < word_count; ++i) {
    const int seen = causal ? i + 1 : word_count;
    const double largest = *std::max_element(book.scores[i], book.scores[i] + seen);
    double sum = 0;
    for (int j = 0; j < seen; ++j) sum += std::exp(book.scores[i][j] - largest);
    for (int j = 0; j < word_count; ++j) {
      const double expected = j < seen ? std::exp(book.scores[i][j] - largest) / sum : 0;
      error = std::max(error, std::abs(double(mask.weights[i][j]) - expected));
    }
  }
  return error;
}

bool same_bits(const float* a, const float* b, std::size_t count) { return std::memcmp(a, b, count * sizeof *a) == 0; }

std::string verdict(const char* question, bool fine) { return format("   %-80s", question) + (fine ? "yes" : "NO"); }

}  // namespace

std::string textbook_page(bool colour) {
  const Textbook book = compute_textbook();
  Page page(colour);
  page.line("Self-attention, step by step, on “Life is short, eat dessert first”");

  page.heading("1", "Words become numbers", "their places in an alphabetical vocabulary");
  page.columns(9, "");
  std::string numbers = format("   %8s", "");
  for (const int id : book.ids) numbers += format("%9d", id);
  page.line(numbers);

  page.heading("2", "Numbers become vectors", "an embedding, and made of it a query, a key and a value (first entries)");
  page.line(format("   %8s%20s%22s%22s%22s", "", "embedding [16]", "query [24]", "key [24]", "value [28]"));
  for (int i = 0; i < word_count; ++i) {
    std::string line = format("   %-8s", words[i]);
    for (const float* vector : {book.embedding[i], book.query[i], book.key[i], book.value[i]}) {
      line += "  " + entries(vector, shown_entries);
    }
    page.line(line);
  }

  page.heading("3", "Scores", "how well the query of a row fits the key of a column: query · key / √24");
  page.scores(book.scores);

  page.heading("4", "Weights", "softmax makes shares of each row of scores; every word sees every word");
  page.weights(book.full.weights, false);

  page.heading("5", "Causal weights", "the same when a word sees itself and the words before it, nothing ahead");
  page.weights(book.causal.weights, true);
  page.legend();

  page.heading("6", "Context", "each word's mixture of the values it sees: causal weights × values (first entries)");
  for (int i = 0; i < word_count; ++i) {
    page.line(format("   %-8s", words[i]) + "  " + entries(book.causal.context[i], context_entries));
  }

  bool masked_are_zero = true;
  for (int i = 0; i < word_count; ++i) {
    for (int j = i + 1; j < word_count; ++j) masked_are_zero = masked_are_zero && book.causal.weights[i][j] == 0;
  }
  const int last = word_count - 1;
  const double error = std::max(weight_error(book, book.full, false), weight_error(book, book.causal, true));
  page.heading("7", "What can be relied on", "checked just now");
  page.line(format("   %-80s%.0e", "largest difference of a weight from a softmax in double precision", error));
  page.line(verdict("a word that is not seen has weight 0, exactly", masked_are_zero));
  page.line(verdict("the last word sees all: the mask changes no bit of its context",
                    same_bits(book.full.context[last], book.causal.context[last], context_dim)));
  page.line(verdict("one word at a time, with a key/value cache: the same bits as all at once",
                    same_bits(book.word_by_word[0], book.causal.context[0], word_count * context_dim)));
  return page.text();
}

}  // namespace app
