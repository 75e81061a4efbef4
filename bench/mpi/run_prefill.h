// What the run of a prefill and its verification share.
#pragma once

#include <cstring>
#include <vector>

#include "runs.h"

namespace distributed {

inline Memory queries_of(const Range& tokens) { return numbers_of(tokens, query_row, 3000000, 2.0f); }

// Output and log-sum-exp of some queries.
struct Rows {
  explicit Rows(const Range& range_)
      : range(range_),
        output(std::size_t(range.count()) * query_row * sizeof(float)),
        lse(std::size_t(range.count()) * query_heads * sizeof(float)) {}
  float* output_at(int token) { return output.of<float>() + std::size_t(token - range.first) * query_row; }
  float* lse_at(int token) { return lse.of<float>() + std::size_t(token - range.first) * query_heads; }
  void set(attend_problem& q, int token) {
    q.output = {output_at(token), 0, query_row, dim}, q.lse = {lse_at(token), 0, query_heads, 1};
  }
  bool operator==(const Rows& other) const {
    return std::memcmp(output.data(), other.output.data(), output.size()) == 0 &&
           std::memcmp(lse.data(), other.lse.data(), lse.size()) == 0;
  }
  Range range;
  Memory output, lse;
};

// A rank's tokens: one of its ranges.
struct Block {
  explicit Block(const Range& range) : tokens(range), query(queries_of(range)), rows(range) {}
  Tokens tokens;
  Memory query;
  Rows rows;
};

inline Block& block_with(std::vector<Block>& blocks, int token) {
  for (Block& block : blocks) {
    if (token >= block.tokens.range.first && token < block.tokens.range.end) return block;
  }
  return must(ATTEND_MISMATCH), blocks.front();
}

// Collective: whether rows at both ends of every block are as of one process, which is rank 0; their number is set there.
bool are_as_of_one_process(int rank, std::vector<Block>& blocks, const Division& division, int& verified);

}  // namespace distributed
