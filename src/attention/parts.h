// How problems are cut into parts of about the same work.
#pragma once

#include <stdint.h>

#include "../../include/attend/core.h"

namespace attend {
namespace {

// Where a part begins: before this token of this key/value head.
struct Cut {
  int head;
  int token;
};

// Beside the keys that a token sees: what it takes to begin and end its rows, in keys.
constexpr int64_t token_overhead = 16;

// A part's share of so many heads: whole ones, and parts-ths of the next. 64-bit division would ask 32-bit targets for a
// library.
struct Share {
  int whole;
  int rest;
};
inline Share share_of(int heads, int part, int parts) {
  const unsigned some = unsigned(heads % parts) * unsigned(part);
  return {heads / parts * part + int(some / unsigned(parts)), int(some % unsigned(parts))};
}

// Where the work of all tokens before it reaches the part's share, at a whole number of tiles if there are many tokens.
// token_work(token): its work, in keys.
template <class Work>
Cut cut_before(const core::Problem& problem, int part, int parts, Work token_work) {
  const Share share = share_of(problem.kv_heads, part, parts);
  if (share.rest == 0) return {share.whole, 0};
  int64_t left = 0;
  for (int token = 0; token < problem.queries; ++token) left += token_work(token) * share.rest;
  const int step = problem.queries >= 4 * parts * config::tile_rows ? config::tile_rows : 1;
  int token = 0;
  while (left > 0 && token < problem.queries) {
    for (const int end = token + step; token < end && token < problem.queries; ++token) left -= token_work(token) * parts;
  }
  if (token == problem.queries) return {share.whole + 1, 0};
  return {share.whole, token};
}

// Calls with the pieces of a part: some tokens of some key/value heads.
template <class Work, class Call>
void for_each_piece(const core::Problem& problem, int part, int parts, Work token_work, Call call) {
  Cut at = cut_before(problem, part, parts, token_work);
  const Cut end = cut_before(problem, part + 1, parts, token_work);
  if (at.token > 0) {
    const bool here = at.head == end.head;
    call(at.head, 1, at.token, here ? end.token : problem.queries);
    if (here) return;
    at = {at.head + 1, 0};
  }
  if (at.head < end.head) call(at.head, end.head - at.head, 0, problem.queries);
  if (end.token > 0) call(end.head, 1, 0, end.token);
}

// One token of many query heads over few key/value heads goes by query heads: calls with a key/value head, and with which of
// the query heads of its group.
template <class Call>
void for_each_group_piece(const core::Problem& problem, int part, int parts, Call call) {
  const int group = problem.query_heads / problem.kv_heads;
  const int end = share_of(problem.query_heads, part + 1, parts).whole;
  for (int first = share_of(problem.query_heads, part, parts).whole; first < end;) {
    const int head = first / group, in_group = first - head * group;
    const int count = end - first < group - in_group ? end - first : group - in_group;
    call(head, in_group, count);
    first += count;
  }
}

inline bool goes_by_query_heads(const core::Problem& problem, int parts) {
  return problem.queries == 1 && problem.kv_heads % parts != 0;
}

}  // namespace
}  // namespace attend
