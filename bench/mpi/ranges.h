// Which tokens ranks have, and which keys of whom a piece of queries sees: every rank computes the same from the same division.
#pragma once

#include <attend/attend_c.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace distributed {

constexpr int segment = ATTEND_SEGMENT_KEYS;

// Tokens first ... end - 1.
struct Range {
  int first = 0, end = 0;
  bool is_empty() const { return first >= end; }
  int count() const { return is_empty() ? 0 : end - first; }
};
using Ranges = std::vector<Range>;

// The ranges of each rank, in which no token is twice. Those of keys begin at multiples of 512, and end there but for the last.
struct Division {
  std::vector<Ranges> queries, keys;
};

// Both ends of a sequence for each rank: rank r of R has blocks r and 2R - 1 - r of 2R. With causal attention all have the same
// work then, of every pair of blocks of queries: one rank sees half of both of its own, the others have twice a whole one.
inline Division zigzag(int tokens, int ranks) {
  const std::int64_t segments = (std::int64_t(tokens) + segment - 1) / segment;
  const auto block = [&](int i) {
    const auto cut = [&](int at) { return int(std::min<std::int64_t>(tokens, segments * at / (2 * ranks) * segment)); };
    return Range{cut(i), cut(i + 1)};
  };
  Division division;
  for (int r = 0; r < ranks; ++r) division.keys.push_back({block(r), block(2 * ranks - 1 - r)});
  division.queries = division.keys;
  return division;
}

// The nodes of the tree of sums that these keys fill: states that are added up have at most as many as all of theirs.
inline int nodes_of(const Range& keys) {
  std::int64_t first = keys.first / segment, nodes = 0;
  for (const std::int64_t end = keys.end / segment; first < end; ++nodes) {
    std::int64_t size = 1;
    while (first % (2 * size) == 0 && first + 2 * size <= end) size *= 2;
    first += size;
  }
  return int(nodes);
}
inline int nodes_of(const Ranges& keys) {
  int nodes = 0;
  for (const Range& range : keys) nodes += nodes_of(range);
  return nodes;
}

// What states have at most while they take so many keys side by side.
inline int nodes_on_the_way(int keys) {
  int levels = 1;
  for (; keys / segment >> levels != 0;) ++levels;
  return 2 * levels;
}

// The keys that causality and windows let some of these queries see, in whole segments: at most two ranges, of sink tokens and
// of the rest.
inline Ranges seen(const attend_problem& p, const Range& queries) {
  const bool is_causal = (p.options & ATTEND_CAUSAL) != 0;
  std::ptrdiff_t first = 0, end = p.keys, sinks = 0;
  if (is_causal) end = std::min(end, p.offset + queries.end);
  if (p.window_right >= 0) end = std::min(end, p.offset + queries.end + p.window_right);
  if (p.window_left >= 0) {
    first = std::max<std::ptrdiff_t>(first, p.offset + queries.first - p.window_left);
    sinks = std::min(p.sink_tokens, end);
  }
  const auto whole = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    const std::ptrdiff_t up = (std::max<std::ptrdiff_t>(to, 0) + segment - 1) / segment * segment;
    return Range{int(std::min(from, p.keys) / segment * segment), int(std::min(up, p.keys))};
  };
  const Range head = whole(0, sinks), rest = whole(first, end);
  if (rest.is_empty() || head.is_empty()) return {rest.is_empty() ? head : rest};
  if (head.end >= rest.first) return {{0, std::max(head.end, rest.end)}};
  return {head, rest};
}

// Those of them that lie in one of a rank's ranges.
struct Stretch {
  Range keys, of;
};
inline std::vector<Stretch> stretches(const attend_problem& p, const Range& queries, const Ranges& keys) {
  std::vector<Stretch> all;
  for (const Range& visible : seen(p, queries)) {
    for (const Range& of : keys) {
      const Range both{std::max(visible.first, of.first), std::min(visible.end, of.end)};
      if (!both.is_empty()) all.push_back({both, of});
    }
  }
  return all;
}
inline int nodes_of(const std::vector<Stretch>& all) {
  int nodes = 0;
  for (const Stretch& stretch : all) nodes += nodes_of(stretch.keys);
  return nodes;
}

// Some queries of one range of a rank.
struct Piece {
  int owner = 0;
  Range queries;
};

// All queries in pieces of at most `size`, the owners in turn. Of a rank's second range the last ones come first: beside the
// first ones of the first range, so that in a zigzag the two have the same work whichever they are.
inline std::vector<Piece> pieces(const Division& division, int size) {
  std::vector<Piece> all;
  bool is_more = true;
  for (int i = 0; is_more; ++i) {
    is_more = false;
    for (std::size_t r = 0; r < division.queries.size(); ++r) {
      bool is_reversed = false;
      for (const Range& range : division.queries[r]) {
        const int count = (range.count() + size - 1) / size, at = range.first + (is_reversed ? count - 1 - i : i) * size;
        is_reversed = !is_reversed;
        if (i >= count) continue;
        all.push_back({int(r), {at, std::min(range.end, at + size)}});
        is_more = true;
      }
    }
  }
  return all;
}

}  // namespace distributed
