// The float64 oracle for every option: a row as its definition reads, in two passes over the keys that it sees. It reads no
// others.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "error_bound.h"
#include "option_definition.h"

namespace attend_test {

struct OracleRow {
  std::vector<double> output, biased, weights;  // biased: minus infinity where hidden; weights: 0 there
  double lse = 0.0;
  double score_size = 0.0;     // of the largest sum of all that makes up a score, or of the sink, by magnitude
  double largest_value = 0.0;  // of the values seen, by magnitude
};

inline OracleRow oracle_option_row(const OptionRow& row) {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  OracleRow result;
  double largest = hidden;
  for (const OptionKey& key : row.keys) {
    double score = hidden;
    if (key.seen) {
      double dot = 0.0, size = 0.0;
      for (int d = 0; d < row.head_dim; ++d) {
        dot += double(row.query[d]) * double(key.key[d]);
        size += std::fabs(double(row.query[d]) * double(key.key[d]));
      }
      const double factor = double(row.scale) * double(key.key_scale);
      score = factor * dot, size *= std::fabs(factor);
      const double cap = double(row.soft_cap);
      if (cap > 0.0) {
        // Beyond 9 caps the hyperbolic tangent is 1, however wrong its argument is.
        if (std::fabs(score) > 9.0 * cap) size = 9.0 * cap;
        score = cap * std::tanh(score / cap);
      }
      const auto add = [&](double term) {
        score += term;
        size += std::fabs(term);
      };
      if (key.bias) add(double(*key.bias));
      if (key.relative) add(double(*key.relative));
      if (row.slope) add(double(*row.slope) * double(key.distance));
      result.score_size = std::max(result.score_size, size);
    }
    result.biased.push_back(score);
    largest = std::max(largest, score);
  }
  if (row.sink) largest = std::max(largest, double(*row.sink));
  if (row.sink && *row.sink != minus_infinity) result.score_size = std::max(result.score_size, std::fabs(double(*row.sink)));
  result.output.resize(std::size_t(row.value_dim), 0.0);
  result.lse = hidden;
  result.weights.resize(row.keys.size(), 0.0);
  if (largest == hidden) return result;
  double total = row.sink ? std::exp(double(*row.sink) - largest) : 0.0;
  for (const double score : result.biased) total += std::exp(score - largest);
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    const OptionKey& key = row.keys[j];
    if (!key.seen) continue;
    result.weights[j] = std::exp(result.biased[j] - largest) / total;
    for (int c = 0; c < row.value_dim; ++c) {
      const double value = double(key.value[c]) * double(key.value_scale);
      result.largest_value = std::max(result.largest_value, std::fabs(value));
      result.output[std::size_t(c)] += result.weights[j] * value;
    }
  }
  result.lse = largest + std::log(total);
  return result;
}

// The roundings of a row's numbers with its options.
inline Roundings roundings_of(const OptionRow& row) {
  Roundings count = roundings_of(row.head_dim, int(row.keys.size()));
  const auto any = [&row](auto has) { return std::any_of(row.keys.begin(), row.keys.end(), has) ? 1 : 0; };
  count.score += any([](const OptionKey& key) { return key.key_scale != 1.0f; });
  if (row.soft_cap > 0.0f) count.score += soft_cap_roundings;
  count.score += any([](const OptionKey& key) { return key.bias.has_value(); });
  count.score += any([](const OptionKey& key) { return key.relative.has_value(); });
  count.score += row.slope ? 1 : 0;
  count.numerator += any([](const OptionKey& key) { return key.value_scale != 1.0f; });
  count.denominator += row.sink ? 1 : 0;
  return count;
}

}  // namespace attend_test
