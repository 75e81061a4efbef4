// Chooses the next token from the logits.
#pragma once

#include <cstdint>
#include <vector>

namespace app {

class Sampler {
 public:
  // temperature >= 0, 0: always the most likely token. top_p within 0 … 1, above 0: draws only from the fewest tokens that
  // have that much probability together. The same seed draws the same tokens.
  Sampler(float temperature, float top_p, std::uint64_t seed) : temperature_(temperature), top_p_(top_p), state_(seed) {}

  // logits: [vocab_size], at least one. Any values, also NaN.
  int choose(const std::vector<float>& logits);

 private:
  float draw();

  float temperature_;
  float top_p_;
  std::uint64_t state_;
  std::vector<float> probabilities_;  // [vocab_size], up to a common factor
  std::vector<int> candidates_;       // tokens
};

// The first of the largest; the first of all where nothing compares.
int most_likely(const std::vector<float>& logits);

}  // namespace app
