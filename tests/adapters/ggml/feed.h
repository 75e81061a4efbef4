// A sequence of tokens fed to llama.cpp in many ways, and the logits that come out at each of its positions.
#pragma once

#include <algorithm>
#include <vector>

#include "llama.h"

namespace llama {

// Tokens of several sequences in one call.
class Calls {
 public:
  Calls(const Library& library, void* model, const Settings& settings)
      : library_(library),
        context_(library.context(model, settings)),
        memory_(library.function<void*(void*)>("llama_get_memory")(context_)),
        pieces_(library.function<std::int32_t(const void*)>("llama_vocab_n_tokens")(
            library.function<const void*(const void*)>("llama_model_get_vocab")(model))),
        decode_(library.function<std::int32_t(void*, Batch)>("llama_decode")),
        logits_(library.function<float*(void*, std::int32_t)>("llama_get_logits_ith")) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() { library_.function<void(void*)>("llama_free")(context_); }

  int pieces() const { return pieces_; }
  void* memory() const { return memory_; }

  void add(std::int32_t token, int position, std::int32_t sequence, bool output) {
    tokens_.push_back(token), positions_.push_back(position), owners_.push_back(sequence), outputs_.push_back(output);
  }

  // Runs what was added; calls take(position, logits) for each output, in order.
  template <class Take>
  void run(const Take& take) {
    const std::size_t count = tokens_.size();
    std::vector<std::int32_t> ones(count, 1);
    std::vector<std::int32_t*> owners(count);
    for (std::size_t i = 0; i < count; ++i) owners[i] = &owners_[i];
    const Batch batch = {std::int32_t(count), tokens_.data(), nullptr,        positions_.data(),
                         ones.data(),         owners.data(),  outputs_.data()};
    const std::int32_t status = decode_(context_, batch);
    if (status != 0) fail("llama_decode: " + std::to_string(status));
    for (std::size_t i = 0; i < count; ++i) {
      if (outputs_[i]) take(positions_[i], logits_(context_, std::int32_t(i)));
    }
    tokens_.clear(), positions_.clear(), owners_.clear(), outputs_.clear();
  }

  void remove(std::int32_t sequence, int from) {
    library_.function<bool(void*, std::int32_t, std::int32_t, std::int32_t)>("llama_memory_seq_rm")(memory_, sequence, from,
                                                                                                    -1);
  }

 private:
  const Library& library_;
  void *context_, *memory_;
  int pieces_;
  std::int32_t (*decode_)(void*, Batch);
  float* (*logits_)(void*, std::int32_t);
  std::vector<std::int32_t> tokens_, positions_, owners_;
  std::vector<std::int8_t> outputs_;
};

// [position][piece]
struct Logits {
  int pieces = 0;
  std::vector<float> numbers;

  void put(int position, const float* logits) {
    const std::size_t at = std::size_t(position) * std::size_t(pieces);
    if (numbers.size() < at + std::size_t(pieces)) numbers.resize(at + std::size_t(pieces));
    std::memcpy(&numbers[at], logits, std::size_t(pieces) * sizeof(float));
  }
  std::int32_t best(int position) const {
    const float* const row = &numbers[std::size_t(position) * std::size_t(pieces)];
    return std::int32_t(std::max_element(row, row + pieces) - row);
  }
};

// The tokens of a test: a prompt, and what the first run has taken as most likely after it.
struct Text {
  std::vector<std::int32_t> tokens;
  int prompt;
};

inline std::int32_t other_token(int i, int pieces) { return std::int32_t((i * 7919 + 104729) % (pieces - 3) + 3); }

// The first run: the prompt at once, then token by token, whichever is most likely.
inline Logits first_run(const Library& library, void* model, const Settings& settings, Text& text, int added) {
  Calls calls(library, model, settings);
  Logits logits;
  logits.pieces = calls.pieces();
  const auto put = [&](int position, const float* row) { logits.put(position, row); };
  for (int i = 0; i < text.prompt; ++i) calls.add(text.tokens[std::size_t(i)], i, 0, true);
  calls.run(put);
  for (int i = text.prompt; i < text.prompt + added; ++i) {
    text.tokens.push_back(logits.best(i - 1));
    calls.add(text.tokens[std::size_t(i)], i, 0, true);
    calls.run(put);
  }
  return logits;
}

// How the tokens are fed.
struct Feed {
  int first = 0;       // tokens of the first call; 0: as many as of the others
  int chunk = 1;       // of the others
  int neighbours = 0;  // other sequences in each call
  int reused = 0;      // after so many tokens others follow, which are removed
  int wrong = 0;       // tokens at the end of each call that are removed after it, as of speculation
};

inline Logits feed(const Library& library, void* model, const Settings& settings, const Text& text, const Feed& feed) {
  Calls calls(library, model, settings);
  Logits logits;
  logits.pieces = calls.pieces();
  const auto put = [&](int position, const float* row) { logits.put(position, row); };
  const int all = int(text.tokens.size());
  std::vector<int> of_neighbours(std::size_t(feed.neighbours), 0);
  bool reuses = feed.reused > 0;
  const std::int32_t own = feed.neighbours > 0 ? 1 : 0;  // not the first sequence, where there are others
  for (int position = 0; position < all;) {
    int count = std::min(all - position, position == 0 && feed.first > 0 ? feed.first : feed.chunk);
    if (reuses && position + count > feed.reused) count = feed.reused - position;
    for (int n = 0; n < feed.neighbours; ++n) {
      const std::int32_t sequence = n < own ? n : n + 1;
      int& length = of_neighbours[std::size_t(n)];
      const int more = position == 0 ? 3 + 5 * n : 1;
      for (int i = 0; i < more; ++i, ++length) calls.add(other_token(length + 31 * n, logits.pieces), length, sequence, false);
    }
    for (int i = 0; i < count; ++i) calls.add(text.tokens[std::size_t(position + i)], position + i, own, true);
    for (int i = 0; i < feed.wrong; ++i) calls.add(other_token(position + i, logits.pieces), position + count + i, own, false);
    calls.run(put);
    position += count;
    if (feed.wrong > 0) calls.remove(own, position);
    if (reuses && position == feed.reused) {
      for (int i = 0; i < 19; ++i) calls.add(other_token(i, logits.pieces), position + i, own, false);
      calls.run(put);
      calls.remove(own, position);
      reuses = false;
    }
  }
  return logits;
}

}  // namespace llama
