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

inline OracleRow oracle_row(const OptionRow& row) {
  constexpr double masked = -std::numeric_limits<double>::infinity();
  OracleRow result;
  double largest = masked;
  for (const OptionKey& key : row.keys) {
    double score = masked;
    if (key.seen) {
      double dot = 0.0, size = 0.0;
      for (int d = 0; d < row.head_dim; ++d) {
        dot += double(row.query[d]) * double(key.key[d]);
        size += std::fabs(double(row.query[d]) * double(key.key[d]));
      }
      const double factor = double(row.scale) * double(key.key_scale);
      score = factor * dot, size *= std::fabs(factor);
      const auto add = [&](double term) {
        score += term;
        size += std::fabs(term);
      };
      const double cap = double(row.soft_cap);
      if (row.bias_before_cap && key.bias) add(double(*key.bias));
      if (cap > 0.0) {
        // Beyond 9 caps the hyperbolic tangent is 1, however wrong its argument is.
        if (std::fabs(score) > 9.0 * cap) size = 9.0 * cap;
        score = cap * std::tanh(score / cap);
      }
      if (key.bias && !row.bias_before_cap) add(double(*key.bias));
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
  result.lse = masked;
  result.weights.resize(row.keys.size(), 0.0);
  if (largest == masked) return result;
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
      for (const double score : oracle_row(plain_row(problem, token, head)).biased)
        largest = std::max(largest, std::fabs(score));
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
      const float* output = problem.output.data + token * problem.output.token_stride + head * problem.output.head_stride;
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
