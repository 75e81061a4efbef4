#include "textbook.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "attend/layers.h"

namespace app {
namespace {

struct Sentence {
  static constexpr int query_heads = 1, kv_heads = 1;
  static constexpr int head_dim = query_dim;
  static constexpr int value_dim = context_dim;  // a value may be wider than a key
  static constexpr int max_tokens = word_count;
};

// The same queries and keys; the value of word j is the unit vector e_j, so that an output row is the row of weights itself.
struct Revealed {
  static constexpr int query_heads = 1, kv_heads = 1;
  static constexpr int head_dim = query_dim;
  static constexpr int value_dim = word_count;
};

// "Life is short, eat dessert first" in the vocabulary dessert, eat, first, is, life, short.
constexpr int sentence_ids[word_count] = {4, 3, 5, 1, 0, 2};

// Uniform in [-1, 1), the same on every machine: a linear congruential generator, of which the upper bits are good enough.
class Numbers {
 public:
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) * 0x1p-23f - 1.0f;
  }

 private:
  std::uint32_t state_ = 20;
};

template <int rows, int columns>
void fill(float (&matrix)[rows][columns], Numbers& numbers, float scale) {
  for (auto& row : matrix) {
    for (float& number : row) number = scale * numbers.next();
  }
}

// out[word] = matrix * embedding[word]
template <int width>
void project(float (&out)[word_count][width], const float (&matrix)[width][embedding_dim],
             const float (&embedding)[word_count][embedding_dim]) {
  for (int word = 0; word < word_count; ++word) {
    for (int row = 0; row < width; ++row) {
      float sum = 0;
      for (int d = 0; d < embedding_dim; ++d) sum += matrix[row][d] * embedding[word][d];
      out[word][row] = sum;
    }
  }
}

// Between plain rows and the library's arrays of one head.
template <class Array, int width>
void copy_in(Array& array, const float (&rows)[word_count][width]) {
  for (int word = 0; word < word_count; ++word) std::copy_n(rows[word], width, array[word][0]);
}

template <class Array, int width>
void copy_out(float (&rows)[word_count][width], const Array& array) {
  for (int word = 0; word < word_count; ++word) std::copy_n(array[word][0], width, rows[word]);
}

// One call of the library: shape, values and mask are what changes.
template <class Shape, int width>
void attend_sentence(float (&out)[word_count][width], const Textbook& book, const float (&values)[word_count][width],
                     const attend::Options& options) {
  attend::Query<Shape, word_count> query;
  attend::Key<Shape, word_count> key;
  attend::Value<Shape, word_count> value;
  attend::Output<Shape, word_count> output;
  attend::Workspace<Shape, word_count, word_count> work;
  copy_in(query, book.query);
  copy_in(key, book.key);
  copy_in(value, values);
  (void)attend::attention(query, key, value, output, work, options);  // refuses only options that are out of range
  copy_out(out, output);
}

void attend_under(TextbookMask& mask, const Textbook& book, const attend::Options& options) {
  float units[word_count][word_count] = {};
  for (int word = 0; word < word_count; ++word) units[word][word] = 1;
  attend_sentence<Revealed>(mask.weights, book, units, options);
  attend_sentence<Sentence>(mask.context, book, book.value, options);
}

void attend_word_by_word(Textbook& book) {
  attend::KvCache<Sentence> cache;
  for (int word = 0; word < word_count; ++word) {
    attend::Query<Sentence> query;
    attend::Key<Sentence> key;
    attend::Value<Sentence> value;
    attend::Output<Sentence> output;
    std::copy_n(book.query[word], query_dim, query[0][0]);
    std::copy_n(book.key[word], query_dim, key[0][0]);
    std::copy_n(book.value[word], context_dim, value[0][0]);
    (void)cache.append(key, value);  // fits: max_tokens is the number of words
    (void)attend::decode(query, cache, output);
    std::copy_n(output[0][0], context_dim, book.word_by_word[word]);
  }
}

}  // namespace

Textbook compute_textbook() {
  Textbook book{};
  std::copy_n(sentence_ids, word_count, book.ids);

  Numbers numbers;
  float vocabulary[word_count][embedding_dim];
  float query_matrix[query_dim][embedding_dim], key_matrix[query_dim][embedding_dim], value_matrix[context_dim][embedding_dim];
  fill(vocabulary, numbers, 1.0f);
  // Wide enough for scores that differ, so that there is something to see in the weights.
  fill(query_matrix, numbers, 0.75f);
  fill(key_matrix, numbers, 0.75f);
  fill(value_matrix, numbers, 0.5f);
  for (int word = 0; word < word_count; ++word) std::copy_n(vocabulary[book.ids[word]], embedding_dim, book.embedding[word]);
  project(book.query, query_matrix, book.embedding);
  project(book.key, key_matrix, book.embedding);
  project(book.value, value_matrix, book.embedding);

  for (int i = 0; i < word_count; ++i) {
    for (int j = 0; j < word_count; ++j) {
      for (int d = 0; d < query_dim; ++d) book.scores[i][j] += double(book.query[i][d]) * double(book.key[j][d]);
      book.scores[i][j] *= double(attend::default_scale(query_dim));
    }
  }
  attend_under(book.full, book, {});
  attend_under(book.causal, book, attend::causal());
  attend_word_by_word(book);
  return book;
}

}  // namespace app
