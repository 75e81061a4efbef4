// What reads tokens and scores those that may come next, whatever arithmetic it computes in.
#pragma once

#include <vector>

namespace app {

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  // Tokens taken so far.
  virtual int length() const = 0;

  // Forgets the tokens taken so far.
  virtual void restart() = 0;

  // Takes the next token, 0 … vocab_size - 1, where there is room for it.
  virtual void advance(int token) = 0;

  // One score for each token of the vocabulary, to come after those taken so far, at least one. Valid until the next call.
  virtual const std::vector<float>& logits() = 0;
};

}  // namespace app
