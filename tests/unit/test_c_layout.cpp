// attend_problem_set_layout with tensors that cannot be counted: which of them is said, and nothing of the problem changes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "attend/attend_c.h"

namespace {

constexpr std::ptrdiff_t tokens = ATTEND_MAX_TOKENS, width = ATTEND_MAX_WIDTH;

struct Sizes {
  std::ptrdiff_t queries, keys, query_heads, kv_heads, head_dim, value_dim, score_keys;
};

// The first tensor with more numbers than a stride can count.
attend_status expected_status(const Sizes& s) {
  const auto is_huge = [](std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t c) {
    return double(a) * double(b) * double(c) >= std::ldexp(1.0, std::numeric_limits<std::ptrdiff_t>::digits);
  };
  if (is_huge(s.queries, s.query_heads, s.head_dim)) return ATTEND_HUGE_QUERY;
  if (is_huge(s.keys, s.kv_heads, s.head_dim)) return ATTEND_HUGE_KEY;
  if (is_huge(s.keys, s.kv_heads, s.value_dim)) return ATTEND_HUGE_VALUE;
  if (is_huge(s.queries, s.query_heads, s.value_dim)) return ATTEND_HUGE_OUTPUT;
  if (is_huge(s.queries, s.query_heads, 1)) return ATTEND_HUGE_LSE;
  if (is_huge(s.queries, s.query_heads, s.score_keys)) return ATTEND_HUGE_SCORES;
  return ATTEND_OK;
}

}  // namespace

TEST_CASE("c layout: a tensor that is too large to count is refused by its name, and the problem does not change") {
  const Sizes all[] = {{1, 1, 1, 1, 1, 1, 1},
                       {tokens, tokens, 1, 1, 1, 1, 1},
                       {tokens, 1, 1, 1, 8, 1, 1},  // of 32 bits the query is huge
                       {1, tokens, 1, 1, 8, 1, 1},  // the key
                       {1, tokens, 1, 1, 1, 8, 1},  // the value
                       {tokens, 1, 1, 1, 1, 8, 1},  // the output
                       {tokens, 1, 1, 1, 1, 1, 8},  // the scores
                       {tokens, tokens, width, width, width, width, 0},
                       {tokens, 1, width / 4, 1, 1, 1, tokens},         // of 64 bits the scores: 2^72
                       {tokens, 1, width / 2048, 1, 1, 1, tokens},      // 2^63
                       {tokens, 1, width / 2048, 1, 1, 1, tokens - 1},  // less
                       {tokens, 1, width / 4096, 1, 1, 1, tokens}};
  for (const Sizes& s : all) {
    for (const int layout : {int(ATTEND_BATCH_TOKEN_HEAD_DIM), int(ATTEND_BATCH_HEAD_TOKEN_DIM)}) {
      attend_problem problem;
      REQUIRE(attend_problem_init(&problem, sizeof problem) == ATTEND_OK);
      problem.queries = s.queries, problem.keys = s.keys;
      problem.query_heads = s.query_heads, problem.kv_heads = s.kv_heads;
      problem.head_dim = s.head_dim, problem.value_dim = s.value_dim;
      problem.scores.keys = s.score_keys;
      problem.query.batch_stride = problem.scores.query_stride = problem.lse.head_stride = 77;
      const attend_problem before = problem;
      const attend_status status = attend_problem_set_layout(&problem, layout), expected = expected_status(s);
      CAPTURE(s.queries);
      CAPTURE(s.score_keys);
      CHECK(status == expected);
      if (expected != ATTEND_OK) {
        CHECK(std::memcmp(&problem, &before, sizeof problem) == 0);
        continue;
      }
      CHECK(problem.query.batch_stride == s.queries * s.query_heads * s.head_dim);
      CHECK(problem.lse.batch_stride == s.queries * s.query_heads);
      CHECK(problem.scores.batch_stride == s.queries * s.query_heads * s.score_keys);
      CHECK(problem.scores.head_stride == s.queries * s.score_keys);
      CHECK(problem.scores.query_stride == s.score_keys);
    }
  }
}
