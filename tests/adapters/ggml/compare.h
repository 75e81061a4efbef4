// What two runs have in common, in words.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "../../conformance/hash.h"
#include "feed.h"

namespace llama {

inline std::string difference(const Logits& a, const Logits& b) {
  if (a.numbers.size() != b.numbers.size()) return "differs (in extent)";
  std::size_t different = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    if (std::memcmp(&a.numbers[i], &b.numbers[i], sizeof(float)) == 0) continue;
    ++different;
    most = std::fmax(most, std::fabs(double(a.numbers[i]) - double(b.numbers[i])));
  }
  if (different == 0) return "same";
  std::size_t other_choices = 0;
  for (int i = 0; i < int(a.numbers.size() / std::size_t(a.pieces)); ++i) other_choices += a.best(i) != b.best(i);
  char text[160];
  const double share = 100.0 * double(different) / double(a.numbers.size());
  const int length =
      std::snprintf(text, sizeof text, "differs (%.*f %% of numbers, at most %.0e", share < 1 ? 2 : 0, share, most);
  if (other_choices > 0) {
    std::snprintf(text + length, sizeof text - std::size_t(length), ", %zu of %zu tokens)", other_choices,
                  a.numbers.size() / std::size_t(a.pieces));
  } else {
    std::snprintf(text + length, sizeof text - std::size_t(length), ")");
  }
  return text;
}

inline std::uint64_t digest(const Logits& logits) {
  return attend_test::hash_bytes(attend_test::hash_begin, logits.numbers.data(), logits.numbers.size() * sizeof(float));
}

}  // namespace llama
