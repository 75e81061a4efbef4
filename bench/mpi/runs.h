// What both runs share: the tokens of a long sequence, which are the same whoever makes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "../../tests/support/random.h"
#include "memory.h"
#include "ranges.h"
#include "session.h"

namespace distributed {

constexpr int query_heads = 8, kv_heads = 2, dim = 64, row = kv_heads * dim, query_row = query_heads * dim;
constexpr int most_together = 131072;  // tokens whose keys one process has

// `width` floats for each of the tokens, whose first one is a multiple of 512.
inline Memory numbers_of(const Range& tokens, int width, std::uint64_t seed, float spread = 1.0f) {
  Memory numbers(std::size_t(tokens.count()) * std::size_t(width) * sizeof(float));
  for (int at = tokens.first; at < tokens.end; at += segment) {
    attend_test::Random random(std::uint64_t(at / segment) + seed);
    const std::size_t count = std::size_t(std::min(segment, tokens.end - at)) * std::size_t(width);
    random.fill(numbers.of<float>() + std::size_t(at - tokens.first) * std::size_t(width), count, spread);
  }
  return numbers;
}

// Keys and values.
struct Tokens {
  explicit Tokens(const Range& range_)
      : range(range_), key(numbers_of(range_, row, 1000)), value(numbers_of(range_, row, 2000000)) {}
  void set(attend_problem& q) {
    q.key = {key.data(), 0, row, dim}, q.value = {value.data(), 0, row, dim};
    q.origin = range.first;
  }
  Range range;
  Memory key, value;
};

// The extents of a call over so many of them.
inline attend_problem problem_of(int queries, int keys) {
  attend_problem p;
  must(attend_problem_init(&p, sizeof p));
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim, p.queries = queries, p.keys = keys;
  return p;
}

// What the processor has done for this rank, in seconds: waiting is among it where MPI polls, and other processes are not.
inline double processor_seconds() { return double(std::clock()) / double(CLOCKS_PER_SEC); }

inline double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

// Lines of rank 0 on standard error, every two seconds.
class Progress {
 public:
  Progress(int rank, const char* what) : rank_(rank), what_(what), begin_(MPI_Wtime()), said_(begin_) {}
  void say(double done, double all, double tokens) {
    const double now = MPI_Wtime();
    if (rank_ != 0 || now - said_ < 2) return;
    said_ = now;
    std::fprintf(stderr, "%s: %.0f of %.0f, %.0f s, %.1f tokens a second\n", what_, done, all, now - begin_,
                 tokens / (now - begin_));
  }

 private:
  int rank_;
  const char* what_;
  double begin_, said_;
};

// Collective; rank 0 prints a table, and returns whether the bits were those of one process.
bool run_decode(const Session& session, int tokens, int steps);
bool run_prefill(const Session& session, int tokens, int piece);

// Collective; rank 0 prints what model.py takes for parameters, measured by all ranks at once over up to so many tokens, at
// least 1,024.
bool run_costs(const Session& session, int tokens, int piece);

}  // namespace distributed
