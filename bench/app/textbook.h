// The example that textbooks explain self-attention with: one sentence of six words, every step shown.
#pragma once

#include <string>

namespace app {

constexpr int word_count = 6, embedding_dim = 16, query_dim = 24, context_dim = 28;

// Row i belongs to the i-th word of the sentence.
struct TextbookMask {
  float weights[word_count][word_count];   // [query][key], each row sums to 1
  float context[word_count][context_dim];  // weights * values
};

struct Textbook {
  int ids[word_count];  // in an alphabetical vocabulary
  float embedding[word_count][embedding_dim];
  float query[word_count][query_dim];
  float key[word_count][query_dim];
  float value[word_count][context_dim];
  double scores[word_count][word_count];        // [query][key], query · key / sqrt(query_dim), for comparison only
  TextbookMask full;                            // every word sees every word
  TextbookMask causal;                          // a word sees itself and the words before it
  float word_by_word[word_count][context_dim];  // the causal context again, with a cache
};

// Computes everything with the active backend. Weights are what attention makes of values that are unit vectors.
Textbook compute_textbook();

// At most 100 columns and 60 lines of UTF-8. colour: shades are 256-colour backgrounds, otherwise block characters.
std::string textbook_page(bool colour);

}  // namespace app
