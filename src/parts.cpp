// A problem in parts of about the same work: smaller problems, made by moving pointers.
#include "attention/parts.h"
#include "attention/visibility.h"
#include "backends.h"

namespace attend {
namespace core {
namespace {

// Leaves some key/value heads of a problem, with the query heads that share them. In place: a problem is large for a stack.
void take_heads(Problem& problem, int first, int count) {
  const int group = problem.query_heads / problem.kv_heads;
  problem.query.data += first * group * problem.query.head_stride;
  problem.output.data += first * group * problem.output.head_stride;
  problem.key.data += first * problem.key.head_stride;
  problem.value.data += first * problem.value.head_stride;
  problem.query_heads = count * group;
  problem.kv_heads = count;
}

// Leaves some query tokens.
void take_tokens(Problem& problem, int first, int end) {
  problem.query.data += first * problem.query.token_stride;
  problem.output.data += first * problem.output.token_stride;
  // The same keys are seen with an offset beyond the keys, and the sum cannot overflow.
  problem.offset = (problem.offset < problem.keys ? problem.offset : problem.keys) + first;
  problem.queries = end - first;
}

// Leaves the keys of one segment: of the first, or of one that some token sees. Then the difference cannot overflow where the
// offset counts.
void take_segment(Problem& problem, int segment) {
  const int first = segment * segment_keys;
  problem.key.data += first * (problem.key_panels ? problem.head_dim : problem.key.token_stride);
  problem.value.data += first * problem.value.token_stride;
  if (problem.causal) problem.offset -= first;
  problem.keys = problem.keys - first < segment_keys ? problem.keys - first : segment_keys;
}

}  // namespace

void run_part(const Problem& problem, int part, int parts) {
  if (goes_by_query_heads(problem, parts)) {
    for_each_group_piece(problem, part, parts, [&](int head, int in_group, int count) {
      Problem some = problem;
      take_heads(some, head, 1);
      some.query.data += in_group * problem.query.head_stride;
      some.output.data += in_group * problem.output.head_stride;
      some.query_heads = count;
      run(some);
    });
    return;
  }
  const auto token_work = [&](int token) { return token_overhead + visible_keys(problem, token); };
  for_each_piece(problem, part, parts, token_work, [&](int head, int heads, int token, int end) {
    Problem some = problem;
    take_heads(some, head, heads);
    take_tokens(some, token, end);
    run(some);
  });
}

void run_key_part(const Problem& problem, int part, int parts, float* partials) {
  const int segments = seen_segments(problem), units = problem.kv_heads * segments;
  const int group = problem.query_heads / problem.kv_heads, row_floats = partial_row_floats(problem.value_dim);
  const ptrdiff_t unit_floats = ptrdiff_t(group) * problem.queries * row_floats;
  const int end = share_of(units, part + 1, parts).whole;
  for (int unit = share_of(units, part, parts).whole; unit < end; ++unit) {
    const int head = unit / segments;
    Problem some = problem;
    some.output = {partials, 0, 0};  // stays there, whichever head is taken
    take_heads(some, head, 1);
    take_segment(some, unit - head * segments);
    some.output = {partials + unit * unit_floats, ptrdiff_t(group) * row_floats, row_floats};
    sum_segment(some);
  }
}

}  // namespace core
}  // namespace attend
