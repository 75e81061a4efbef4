// One query row over some keys, and its errors against the float64 oracle as parts of their bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "attend/attend.h"
#include "error_bound.h"
#include "oracle.h"

namespace attend_test {

class ErrorCase {
 public:
  static constexpr int columns = 8;  // of values: so many sets of values are tried at once

  // Parts of the bounds that hold for all scores of the case's size. A NaN is larger than any bound.
  struct Errors {
    double column[columns];  // of the output
    double lse;
    double score_size;  // of this very input
    double hardest;     // the largest part of the bounds of this very input: more than 1 is a bound passed
    double output() const { return *std::max_element(column, column + columns); }
  };

  // size: the largest sum of |scale * query_d * key_d| that a key is to have.
  ErrorCase(int dims, int key_count, double size)
      : head_dim(dims),
        keys(key_count),
        score_size(size),
        query(std::size_t(dims)),
        key(std::size_t(dims) * std::size_t(key_count)),
        value(std::size_t(key_count) * columns),
        scratch_(attend::core::option_scratch_floats(1, attend::chain_keys, dims, columns) + attend::config::alignment) {
    row_.query = query.data();
    row_.head_dim = dims;
    row_.value_dim = columns;
  }
  ErrorCase(const ErrorCase&) = delete;  // its row points into it

  float* key_row(int j) { return key.data() + std::ptrdiff_t(j) * head_dim; }
  float* value_row(int j) { return value.data() + std::ptrdiff_t(j) * columns; }
  float& scale() { return row_.scale; }

  // The errors where the query sees the first keys only.
  Errors measure(int seen) {
    see(seen);
    float output[columns], lse = 0.0f;
    run(seen, output, &lse);
    const OracleRow exact = oracle_row(row_);
    const Roundings count = roundings_of(head_dim, seen);
    const double bound = output_bound(count, score_size), own = output_bound(count, exact.score_size);
    Errors errors{};
    errors.score_size = exact.score_size;
    for (int c = 0; c < columns; ++c) {
      double largest_value = 0.0;
      for (int j = 0; j < seen; ++j) largest_value = std::max(largest_value, std::fabs(double(value_row(j)[c])));
      errors.column[c] = part_of(bound * largest_value, double(output[c]), exact.output[std::size_t(c)]);
    }
    errors.lse = part_of(lse_bound(count, score_size, exact.lse), double(lse), exact.lse);
    errors.hardest = std::max(errors.output() * (bound / own),
                              part_of(lse_bound(count, exact.score_size, exact.lse), double(lse), exact.lse));
    return errors;
  }

  const int head_dim, keys;
  const double score_size;
  std::vector<float> query, key, value;  // [head_dim], [keys][head_dim], [keys][columns]

 private:
  static double part_of(double bound, double found, double exact) {
    const double error = std::fabs(found - exact);
    return error == 0.0 ? 0.0 : std::isnan(error) ? std::numeric_limits<double>::infinity() : error / bound;
  }

  void see(int seen) {
    const auto before = int(row_.keys.size());
    row_.keys.resize(std::size_t(seen));
    for (int j = before; j < seen; ++j) {
      OptionKey& added = row_.keys[std::size_t(j)];
      added.key = key_row(j);
      added.value = value_row(j);
      added.seen = true;
    }
  }

  // With the log-sum-exp. Outputs have the same bits without it.
  void run(int seen, float* output, float* lse) {
    attend::core::Problem problem{};
    problem.query = {query.data(), head_dim, 0};
    problem.output = {output, columns, 0};
    problem.key = {key.data(), head_dim, 0};
    problem.value = {value.data(), columns, 0};
    problem.query_heads = problem.kv_heads = problem.queries = 1;
    problem.head_dim = head_dim;
    problem.value_dim = columns;
    problem.keys = seen;
    problem.scale = row_.scale;
    problem.row_block = 1;
    problem.key_block = attend::chain_keys;
    void* start = scratch_.data();
    std::size_t bytes = scratch_.size() * sizeof(float);
    problem.scratch = static_cast<float*>(std::align(attend::config::alignment, sizeof(float), start, bytes));
    attend::core::Options options;
    options.lse = {lse, 1, 1};
    attend::core::Floats::run(problem, options);
  }

  std::vector<float> scratch_;
  OptionRow row_;
};

}  // namespace attend_test
