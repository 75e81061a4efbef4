// The float64 oracle: a row of attention, with any options, as its definition reads, in two passes over the keys that it sees.
// It reads no others. And how far numbers are from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "definition.h"
#include "error_bound.h"

namespace attend_test {

struct OracleRow {
  std::vector<double> output, biased, weights;  // biased: minus infinity where masked; weights: 0 there
  double lse = 0.0;
  double score_size = 0.0;     // of the largest sum of all that makes up a score, or of the sink, by magnitude
  double largest_value = 0.0;  // of the values seen, by magnitude
};

// In float64: a dot product, and the sum of its terms' magnitudes. Four sums of each go side by side, or each addition would
// wait for the one before it.
struct Dot {
  double sum = 0.0, size = 0.0;
};

inline Dot dot_of(const float* a, const float* b, int count) {
  double sums[4] = {}, sizes[4] = {};
  const auto add = [&](int lane, int d) {
    const double term = double(a[d]) * double(b[d]);
    sums[lane] += term;
    sizes[lane] += std::fabs(term);
  };
  int d = 0;
  for (; d + 4 <= count; d += 4) {
    for (int lane = 0; lane < 4; ++lane) add(lane, d + lane);
  }
  for (; d < count; ++d) add(0, d);
  return {(sums[0] + sums[1]) + (sums[2] + sums[3]), (sizes[0] + sizes[1]) + (sizes[2] + sizes[3])};
}

// Of a key that is seen: its score with all that makes it up, and the sum of these terms' magnitudes.
inline Dot oracle_score(const OptionRow& row, const OptionKey& key) {
  const double factor = double(row.scale) * double(key.key_scale);
  Dot score = dot_of(row.query, key.key, row.head_dim);
  score.sum *= factor, score.size *= std::fabs(factor);
  const auto add = [&](double term) {
    score.sum += term;
    score.size += std::fabs(term);
  };
  const double cap = double(row.soft_cap);
  if (row.bias_before_cap && key.bias) add(double(*key.bias));
  if (cap > 0.0) {
    // Beyond 9 caps the hyperbolic tangent is 1, however wrong its argument is.
    if (std::fabs(score.sum) > 9.0 * cap) score.size = 9.0 * cap;
    score.sum = cap * std::tanh(score.sum / cap);
  }
  if (key.bias && !row.bias_before_cap) add(double(*key.bias));
  if (key.relative) add(double(*key.relative));
  if (row.slope) add(double(*row.slope) * double(key.distance));
  return score;
}

inline OracleRow oracle_row(const OptionRow& row) {
  constexpr double masked = -std::numeric_limits<double>::infinity();
  OracleRow result;
  double largest = masked;
  for (const OptionKey& key : row.keys) {
    const Dot score = key.seen ? oracle_score(row, key) : Dot{masked, 0.0};
    result.score_size = std::max(result.score_size, score.size);
    result.biased.push_back(score.sum);
    largest = std::max(largest, score.sum);
  }
  if (row.sink) largest = std::max(largest, double(*row.sink));
  if (row.sink && *row.sink != minus_infinity) result.score_size = std::max(result.score_size, std::fabs(double(*row.sink)));
  result.output.resize(std::size_t(row.value_dim), 0.0);
  result.lse = masked;
  result.weights.resize(row.keys.size(), 0.0);
  if (largest == masked) return result;
  double total = row.sink ? std::exp(double(*row.sink) - largest) : 0.0;
  for (std::size_t j = 0; j < row.keys.size(); ++j) total += result.weights[j] = std::exp(result.biased[j] - largest);
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    const OptionKey& key = row.keys[j];
    if (!key.seen) continue;
    const double weight = result.weights[j] /= total;
    double* const output = result.output.data();
    for (int c = 0; c < row.value_dim; ++c) output[c] += weight * (double(key.value[c]) * double(key.value_scale));
    float largest_value = 0.0f;
    for (int c = 0; c < row.value_dim; ++c) largest_value = std::max(largest_value, std::fabs(key.value[c]));
    result.largest_value = std::max(result.largest_value, double(largest_value) * std::fabs(double(key.value_scale)));
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

// The largest error of what the definition says of a row, as a part of its bound.
inline double definition_error(const OptionRow& row) {
  const DefinedRow found = defined_row(row);
  const OracleRow expected = oracle_row(row);
  const Roundings count = roundings_of(row);
  const double bound = output_bound(count, expected.score_size);
  double worst = 0.0;
  const auto compare = [&worst](double a, double b, double most) {
    if (a == b) return;
    const double error = std::fabs(a - b) / most;
    if (!(error <= worst)) worst = error;
  };
  for (std::size_t c = 0; c < found.output.size(); ++c) {
    compare(double(found.output[c]), expected.output[c], bound * expected.largest_value);
  }
  for (std::size_t j = 0; j < found.weights.size(); ++j) {
    compare(double(found.weights[j]), expected.weights[j], bound);
    compare(double(found.biased[j]), expected.biased[j], score_bound(count, expected.score_size));
    if (!row.keys[j].seen && found.weights[j] != 0.0f) worst = std::numeric_limits<double>::infinity();
  }
  compare(found.lse, expected.lse, lse_bound(count, expected.score_size, expected.lse));
  return worst;
}

using attend::core::Problem;

// The largest |score| of a plain problem, in natural-log units.
inline double largest_score(const Problem& problem) {
  double largest = 0.0;
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const OptionRow row = plain_row(problem, token, head);
      for (const OptionKey& key : row.keys) largest = std::max(largest, std::fabs(oracle_score(row, key).sum));
    }
  }
  return largest;
}

// What the output of a plain problem should be: [queries][query_heads][value_dim], without gaps.
inline std::vector<double> oracle(const Problem& problem) {
  std::vector<double> outputs;
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const std::vector<double> row = oracle_row(plain_row(problem, token, head)).output;
      outputs.insert(outputs.end(), row.begin(), row.end());
    }
  }
  return outputs;
}

struct Errors {
  double largest = 0.0;           // of |output - expected|; not a number as soon as one output is not
  double root_mean_square = 0.0;  // over all output elements
};

// Compares the problem's output with what oracle() said.
inline Errors errors_against(const std::vector<double>& expected, const Problem& problem) {
  Errors errors;
  const double* expect = expected.data();
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const float* output = row_of<float>(problem.output, token, head);
      for (int c = 0; c < problem.value_dim; ++c) {
        const double error = std::fabs(double(output[c]) - *expect++);
        if (!std::isnan(errors.largest) && !(error <= errors.largest)) errors.largest = error;
        errors.root_mean_square += error * error;
      }
    }
  }
  if (!expected.empty()) errors.root_mean_square = std::sqrt(errors.root_mean_square / double(expected.size()));
  return errors;
}

}  // namespace attend_test
