// A problem in parts of about the same work: smaller problems, made by moving pointers.
#include <stdint.h>

#include "backends.h"
#include "seen.h"

namespace attend {
namespace core {
namespace {

// Where a part begins: before this token of this key/value head.
struct Cut {
  int head;
  int token;
};

// The work of a token, in keys: what it sees, and what it takes to begin and end its rows.
int64_t token_work(const Problem& problem, int token) {
  constexpr int64_t overhead = 16;
  return overhead + visible_keys(problem, token);
}

// A part's share of so many heads: whole ones, and parts-ths of the next. 64-bit division would ask 32-bit targets for a
// library.
struct Share {
  int whole;
  int rest;
};
Share share_of(int heads, int part, int parts) {
  const unsigned some = unsigned(heads % parts) * unsigned(part);
  return {heads / parts * part + int(some / unsigned(parts)), int(some % unsigned(parts))};
}

// Where the work of all tokens before it reaches the part's share, at a whole number of tiles if there are many tokens.
Cut cut_before(const Problem& problem, int part, int parts) {
  const Share share = share_of(problem.kv_heads, part, parts);
  if (share.rest == 0) return {share.whole, 0};
  int64_t left = 0;
  for (int token = 0; token < problem.queries; ++token) left += token_work(problem, token) * share.rest;
  const int step = problem.queries >= 4 * parts * config::tile_rows ? config::tile_rows : 1;
  int token = 0;
  while (left > 0 && token < problem.queries) {
    for (const int end = token + step; token < end && token < problem.queries; ++token)
      left -= token_work(problem, token) * parts;
  }
  if (token == problem.queries) return {share.whole + 1, 0};
  return {share.whole, token};
}

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

// Some tokens of some heads.
ATTEND_APART void run_some(const Problem& problem, int head, int heads, int token, int end) {
  Problem some = problem;
  take_heads(some, head, heads);
  take_tokens(some, token, end);
  run(some);
}

// One token of many query heads over few key/value heads goes by query heads: as many problems as key/value heads have some.
ATTEND_APART void run_query_heads(const Problem& problem, int first, int end) {
  const int group = problem.query_heads / problem.kv_heads;
  while (first < end) {
    const int head = first / group, in_group = first - head * group;
    const int count = end - first < group - in_group ? end - first : group - in_group;
    Problem some = problem;
    take_heads(some, head, 1);
    some.query.data += in_group * problem.query.head_stride;
    some.output.data += in_group * problem.output.head_stride;
    some.query_heads = count;
    run(some);
    first += count;
  }
}

}  // namespace

void run_part(const Problem& problem, int part, int parts) {
  if (problem.queries == 1 && problem.kv_heads % parts != 0) {
    const int heads = problem.query_heads;
    return run_query_heads(problem, share_of(heads, part, parts).whole, share_of(heads, part + 1, parts).whole);
  }
  Cut at = cut_before(problem, part, parts);
  const Cut end = cut_before(problem, part + 1, parts);
  if (at.token > 0) {
    const bool here = at.head == end.head;
    run_some(problem, at.head, 1, at.token, here ? end.token : problem.queries);
    if (here) return;
    at = {at.head + 1, 0};
  }
  if (at.head < end.head) run_some(problem, at.head, end.head - at.head, 0, problem.queries);
  if (end.token > 0) run_some(problem, end.head, 1, 0, end.token);
}

void run_key_part(const Problem& problem, int part, int parts, float* partials) {
  const int segments = seen_segments(problem), units = problem.kv_heads * segments;
  const int group = problem.query_heads / problem.kv_heads, row_floats = kept_floats(problem.value_dim);
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
