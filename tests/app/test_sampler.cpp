// How often the sampler chooses which token, and what it makes of logits that are no numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "../../bench/app/sampler.h"

TEST_CASE("app: the sampler draws what it should, also from nonsense") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {1.0f, 3.0f, 3.0f, 2.0f};
  CHECK(app::most_likely(logits) == 1);
  CHECK(app::Sampler(0, 1, 9).choose(logits) == 1);
  CHECK(app::Sampler(1e-30f, 1, 9).choose({0, 1}) == 1);
  using Logits = std::vector<float>;
  const Logits oddities[] = {{nan, 1, 2}, {1, nan, 2}, {nan, nan, nan}, {infinity, infinity, 0}, {0, -infinity, nan}};
  for (const Logits& odd : oddities) {
    for (const float temperature : {0.0f, 1e-30f, 1.0f, 1e30f}) {
      for (const float top_p : {1e-6f, 0.5f, 1.0f}) {
        const int token = app::Sampler(temperature, top_p, 3).choose(odd);
        CHECK(token >= 0);
        CHECK(token < 3);
      }
    }
  }
  // Shares of a token among many draws: exp(1), exp(3), exp(3), exp(2) parts; with top_p only the two largest, just enough.
  for (const float top_p : {1.0f, 0.7f}) {
    app::Sampler sampler(1, top_p, 5), again(1, top_p, 5), other(1, top_p, 6);
    int counts[4] = {}, differences = 0;
    const int draws = 20000;
    for (int i = 0; i < draws; ++i) {
      const int token = sampler.choose(logits);
      CHECK(token == again.choose(logits));
      differences += token != other.choose(logits);
      ++counts[token];
    }
    const double total = top_p < 1 ? 2 * std::exp(3.0) : std::exp(1.0) + 2 * std::exp(3.0) + std::exp(2.0);
    for (int token = 0; token < 4; ++token) {
      const bool kept = top_p == 1 || token == 1 || token == 2;
      const double expected = kept ? std::exp(double(logits[std::size_t(token)])) / total : 0;
      CHECK(std::abs(double(counts[token]) / draws - expected) <= (kept ? 0.02 : 0.0));
    }
    CHECK(differences > draws / 10);
  }
}
