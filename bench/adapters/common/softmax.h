// Softmax of rows, by the weights of attention.
#pragma once

#include "attention.h"

namespace attend_adapter {

// to[rows][width] = softmax of each of from[rows][width], by one problem whose scores are 0 plus a bias: the rows. A row of
// nothing but -infinity becomes zeros, one with a NaN or infinity NaN; numbers from 2.36e38 on, to either side, count as
// infinite. `to` is not `from`.
inline attend_status softmax(const float* from, std::ptrdiff_t rows, std::ptrdiff_t width, float* to, const Parallel& parallel,
                             Memory& memory) {
  static const float zero[1] = {};
  Memory outputs;  // which nobody reads
  float* const output = outputs.numbers<float>(std::size_t(rows > 0 ? rows : 1));
  attend_problem problem;
  const attend_status status = attend_problem_init(&problem, sizeof problem);
  if (status != ATTEND_OK) return status;
  problem.query_heads = problem.kv_heads = problem.head_dim = problem.value_dim = 1;
  problem.queries = rows;
  problem.keys = width;
  problem.query = {zero, 0, 0, 0};
  problem.key = problem.value = problem.query;
  problem.output = {output, 0, 1, 0};
  problem.bias = {from, 0, 0, width, width};
  problem.scores = {to, 0, 0, width, width, ATTEND_SCORES_WEIGHTS};
  return run_attention(problem, parallel, memory);
}

}  // namespace attend_adapter
