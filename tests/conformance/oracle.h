// The float64 oracle: attention as its definition reads, in two passes over the visible keys, and how far outputs are from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "attend/core.h"

namespace attend_test {

using attend::core::Problem;

// Query token i sees keys 0 … visible_keys - 1; the oracle reads no others, and no value of another.
inline int visible_keys(const Problem& problem, int token) {
  if (!problem.causal) return problem.keys;
  const long long end = 1LL + problem.offset + token;
  return int(std::clamp(end, 0LL, 0LL + problem.keys));
}

// Scores in natural-log units of one query token and query head against its visible keys.
inline std::vector<double> oracle_scores(const Problem& problem, int token, int head) {
  const float* query = problem.query.data + token * problem.query.token_stride + head * problem.query.head_stride;
  const float* key = problem.key.data + head / (problem.query_heads / problem.kv_heads) * problem.key.head_stride;
  std::vector<double> scores(std::size_t(visible_keys(problem, token)));
  for (double& score : scores) {
    double sum = 0.0;
    for (int d = 0; d < problem.head_dim; ++d) sum += double(query[d]) * double(key[d]);
    score = double(problem.scale) * sum;
    key += problem.key.token_stride;
  }
  return scores;
}

// The largest |score| of the whole problem, in natural-log units.
inline double largest_score(const Problem& problem) {
  double largest = 0.0;
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      for (const double score : oracle_scores(problem, token, head)) largest = std::max(largest, std::fabs(score));
    }
  }
  return largest;
}

// What the output should be: [queries][query_heads][value_dim], without gaps. The problem's keys must lie in rows.
// A weight is exp(score - largest score), and 0 for a score of minus infinity; no weight at all gives a row of zeros.
inline std::vector<double> oracle(const Problem& problem) {
  const auto width = std::size_t(problem.value_dim);
  std::vector<double> outputs(std::size_t(problem.queries) * std::size_t(problem.query_heads) * width);
  double* output = outputs.data();
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head, output += width) {
      const std::vector<double> scores = oracle_scores(problem, token, head);
      const double largest = scores.empty() ? 0.0 : *std::max_element(scores.begin(), scores.end());
      const float* value = problem.value.data + head / (problem.query_heads / problem.kv_heads) * problem.value.head_stride;
      double denominator = 0.0;
      for (const double score : scores) {
        const double weight = score == -std::numeric_limits<double>::infinity() ? 0.0 : std::exp(score - largest);
        denominator += weight;
        for (std::size_t c = 0; c < width; ++c) output[c] += weight * double(value[c]);
        value += problem.value.token_stride;
      }
      for (std::size_t c = 0; c < width; ++c) output[c] = denominator == 0.0 ? 0.0 : output[c] / denominator;
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
