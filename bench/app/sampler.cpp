#include "sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace app {

int most_likely(const std::vector<float>& logits) {
  std::size_t best = 0;
  for (std::size_t token = 1; token < logits.size(); ++token) {
    if (logits[token] > logits[best]) best = token;
  }
  return static_cast<int>(best);
}

// Uniform in [0, 1). A Weyl sequence through the mixer of SplitMix64 (Steele, Lea and Flood, 2014): good from any seed, 0 too.
float Sampler::draw() {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t bits = state_;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  return static_cast<float>(bits >> 40) * 0x1p-24f;
}

int Sampler::choose(const std::vector<float>& logits) {
  const int best = most_likely(logits);
  if (temperature_ == 0) return best;

  const auto probability = [this](int token) -> float& { return probabilities_[static_cast<std::size_t>(token)]; };
  const float largest = logits[static_cast<std::size_t>(best)];
  probabilities_.resize(logits.size());
  float total = 0;
  for (std::size_t token = 0; token < logits.size(); ++token) {
    probabilities_[token] = std::exp((logits[token] - largest) / temperature_);
    total += probabilities_[token];
  }
  if (!std::isfinite(total)) return best;  // there was NaN or an infinity, which nothing can be drawn from

  candidates_.clear();
  if (top_p_ < 1) {
    // Tokens below this are never among the fewest: all of them together have less than 1 - top_p.
    const float least = (1 - top_p_) * total / static_cast<float>(logits.size());
    for (int token = 0; token < static_cast<int>(logits.size()); ++token) {
      if (token == best || probability(token) >= least) candidates_.push_back(token);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [&](int a, int b) { return probability(a) > probability(b); });
    const float enough = top_p_ * total;
    total = 0;
    std::size_t count = 0;
    while (count < candidates_.size() && total < enough) total += probability(candidates_[count++]);
    candidates_.resize(count);
  } else {
    for (int token = 0; token < static_cast<int>(logits.size()); ++token) candidates_.push_back(token);
  }

  const float target = draw() * total;
  float sum = 0;
  for (const int token : candidates_) {
    sum += probability(token);
    if (target < sum) return token;
  }
  return best;  // rounding kept the sum below its own total
}

}  // namespace app
