// The model of household commands: a small Llama with weights of 8 bits that stay in flash, by the calls of the C surface.
#pragma once

#include <Attend.h>

#include "household_model.h"

class Household {
 public:
  // False where memory does not do.
  bool begin();

  // Writes the action that a sentence asks for, with a zero behind it. room: at least 1. False where the sentence or its action is
  // too long.
  bool answer(const char* sentence, char* action, unsigned room);

 private:
  enum : int {
    other_character = 0, begin_sentence = 1, end_action = 2, begin_action = 3,
    first_word = household_first_letter + 26, longest_spelling = 6,
    dim = household_dim, heads = household_heads, kv_heads = household_kv_heads, head_dim = dim / heads,
    max_tokens = 64
  };

  struct Layer {
    const float *attention_norm, *feed_norm;
    attend_layer attention;
    attend_weights gate, up, down;
    alignas(ATTEND_ALIGNMENT) unsigned char cache[2 * 4 * kv_heads * max_tokens * head_dim + 1024];
  };

  const unsigned char* next(size_t bytes);
  const float* next_floats(int count) { return reinterpret_cast<const float*>(next(size_t(count) * sizeof(float))); }
  attend_weights next_matrix(int outputs, int inputs);
  bool next_layer(Layer& layer);

  bool read(const char* sentence);
  bool read_word(const char* word, int length);
  bool read_token(int token);
  int likeliest() const;
  const char* piece(int token) const;
  int find(const char* word, int length, int first, int end) const;

  void normalise(const float* weight) { normalise_to(weight, normed_); }
  void normalise_to(const float* weight, float* to) const;
  static void project(const attend_weights& weights, const float* from, float* to);

  const unsigned char* next_ = nullptr;
  const unsigned char *piece_begins_ = nullptr, *texts_ = nullptr;
  attend_weights embedding_;
  const float* final_norm_ = nullptr;
  Layer layers_[household_layers];
  attend_problem problem_;
  attend_rotary rotary_;
  uint64_t turns_[head_dim / 2];
  float stream_[dim], normed_[dim], update_[dim], gate_[household_hidden_dim], up_[household_hidden_dim];
  alignas(ATTEND_ALIGNMENT) unsigned char work_[8192];
};

// ---- Reading the model: parts that begin at multiples of 16 bytes

inline const unsigned char* Household::next(size_t bytes) {
  const unsigned char* const part = next_;
  next_ += (bytes + 15) / 16 * 16;
  return part;
}

inline attend_weights Household::next_matrix(int outputs, int inputs) {
  attend_weights weights = {nullptr, nullptr, nullptr, outputs, inputs, ATTEND_INT8, ATTEND_ROWS};
  weights.scales = next_floats(outputs);
  weights.data = next(size_t(outputs) * size_t(inputs));
  return weights;
}

inline bool Household::next_layer(Layer& layer) {
  layer.attention_norm = next_floats(dim);
  attend_layer_init(&layer.attention, sizeof layer.attention);
  layer.attention.query = next_matrix(dim, dim);
  layer.attention.key = next_matrix(kv_heads * head_dim, dim);
  layer.attention.value = next_matrix(kv_heads * head_dim, dim);
  layer.attention.output = next_matrix(dim, dim);
  layer.attention.rotary = &rotary_;
  layer.feed_norm = next_floats(dim);
  layer.gate = next_matrix(household_hidden_dim, dim);
  layer.up = next_matrix(household_hidden_dim, dim);
  layer.down = next_matrix(dim, household_hidden_dim);

  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = kv_heads;
  shape.head_dim = shape.value_dim = head_dim;
  shape.max_tokens = max_tokens;
  if (attend_cache_init(&shape, layer.cache, sizeof layer.cache, &layer.attention.cache) != ATTEND_OK) return false;
  return attend_layer_workspace_size(&problem_, &layer.attention) <= sizeof work_;
}

inline bool Household::begin() {
  attend_problem_init(&problem_, sizeof problem_);
  problem_.options = ATTEND_CAUSAL;
  problem_.query_heads = heads;
  problem_.kv_heads = kv_heads;
  problem_.head_dim = problem_.value_dim = head_dim;
  problem_.queries = 1;
  attend_rotary_init(&rotary_, turns_, head_dim, ATTEND_NEIGHBOURS, 10000, 1);
  next_ = household_model + 48;  // its header, whose numbers household_model.h has
  piece_begins_ = next((household_pieces + 1) * 2);
  texts_ = next(household_text_bytes);
  embedding_ = next_matrix(household_pieces, dim);
  for (Layer& layer : layers_) {
    if (!next_layer(layer)) return false;
  }
  final_norm_ = next_floats(dim);
  return true;
}

// ---- The model

inline void Household::normalise_to(const float* weight, float* to) const {
  const attend_norm norm = {weight, nullptr, dim, 1e-5f};
  attend_rms_norm(&norm, stream_, 1, to);
}

inline void Household::project(const attend_weights& weights, const float* from, float* to) {
  const attend_projection projection = {weights, to};
  attend_project(from, 1, &projection, 1, nullptr, 0);
}

inline bool Household::read_token(int token) {
  const signed char* const row = static_cast<const signed char*>(embedding_.data) + token * dim;
  for (int i = 0; i < dim; ++i) stream_[i] = embedding_.scales[token] * float(row[i]);
  for (Layer& layer : layers_) {
    normalise(layer.attention_norm);
    if (attend_self_attention(&problem_, &layer.attention, normed_, update_, work_, sizeof work_) != ATTEND_OK) return false;
    attend_add(update_, 1, dim, stream_);
    normalise(layer.feed_norm);
    project(layer.gate, normed_, gate_);
    project(layer.up, normed_, up_);
    attend_activate(ATTEND_SILU, gate_, up_, household_hidden_dim, gate_);
    project(layer.down, gate_, update_);
    attend_add(update_, 1, dim, stream_);
  }
  return true;
}

// Of the pieces that actions are made of, and the end.
inline int Household::likeliest() const {
  float normed[dim], logits[household_first_letter - end_action];
  normalise_to(final_norm_, normed);
  attend_weights pieces = embedding_;
  pieces.data = static_cast<const signed char*>(embedding_.data) + end_action * dim;
  pieces.scales += end_action;
  pieces.outputs = household_first_letter - end_action;
  project(pieces, normed, logits);
  int best = 0;
  for (int i = 1; i < pieces.outputs; ++i) best = logits[i] > logits[best] ? i : best;
  return end_action + best;
}

inline bool Household::answer(const char* sentence, char* action, unsigned room) {
  for (Layer& layer : layers_) attend_cache_truncate(layer.attention.cache, 0);
  if (!read(sentence)) return false;
  unsigned length = 0;
  action[0] = '\0';
  for (int token = likeliest(); token != end_action; token = likeliest()) {
    for (const char* from = piece(token); *from != '\0'; ++from) {
      if (length + 1 >= room) return false;
      action[length++] = *from;
    }
    action[length] = '\0';
    if (!read_token(token)) return false;
  }
  return true;
}

// ---- Sentences as tokens: words that are known, the letters of others, digits

inline const char* Household::piece(int token) const {
  return reinterpret_cast<const char*>(texts_) + (piece_begins_[2 * token] | piece_begins_[2 * token + 1] << 8);
}

inline int Household::find(const char* word, int length, int first, int end) const {
  for (int token = first; token < end; ++token) {
    const char* const known = piece(token);
    int i = 0;
    while (i < length && known[i] == word[i]) ++i;
    if (i == length && known[i] == '\0') return token;
  }
  return -1;
}

inline bool Household::read_word(const char* word, int length) {
  const bool spelled = word[0] >= 'a' && word[0] <= 'z';
  const int known = spelled ? find(word, length, first_word, household_pieces) : find(word, length, 0, household_first_letter);
  if (known >= 0) return read_token(known);
  if (!spelled) return read_token(other_character);
  for (int i = 0; i < length && i < longest_spelling; ++i) {
    if (!read_token(household_first_letter + (word[i] - 'a'))) return false;
  }
  return true;
}

inline bool Household::read(const char* sentence) {
  if (!read_token(begin_sentence)) return false;
  char word[40];
  int length = 0;
  for (;; ++sentence) {
    const char c = *sentence >= 'A' && *sentence <= 'Z' ? char(*sentence - 'A' + 'a') : *sentence;
    if (c == '\'') continue;  // stands inside words
    if (c >= 'a' && c <= 'z') {
      if (length < int(sizeof word)) word[length++] = c;
      continue;
    }
    if (length > 0 && !read_word(word, length)) return false;
    length = 0;
    const bool symbol = (c >= '0' && c <= '9') || c == ':' || c == '%';
    if ((symbol || static_cast<unsigned char>(c) >= 0xC0) && !read_word(&c, 1)) return false;
    if (c == '\0') return read_token(begin_action);
  }
}
