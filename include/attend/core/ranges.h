// Options of a call of the core whose queries see a range of keys each, or are of several documents.
//
// Calls without them hold none of their code: they are options of a type of their own.
#pragma once

#include "options.h"

namespace attend::core {

struct Ranges {
  // Query i sees keys first[token + i] ... end[token + i] - 1, of those that its other options let through, sink tokens too.
  // Null: from 0 on, or all. Requires 0 <= first; the end may pass the keys.
  const int32_t* first = nullptr;
  const int32_t* end = nullptr;

  // Documents side by side, each with as many queries as keys: document d has tokens boundaries[d] to boundaries[d + 1] - 1,
  // and sees its own keys only. Positions count from its beginning, so that it has the bits that it has alone. Columns of
  // masks, biases and scores are keys of the arrays, and so are ranges. [documents + 1], not falling from 0 on, and the last is
  // at least token + queries. Over arrays only, whose origin is 0. Null: none.
  const int32_t* boundaries = nullptr;
  int documents = 0;

  int token = 0;  // the index of query 0 in both lists
};

// Queries whose ranges begin, and end, at the same key or one key further from query to query are computed together, each
// document by itself; where options ask for positions, a range that moves must hold the query's own key for that. Not with
// states.
struct RangedOptions : Options {
  Ranges ranges;
};

// As core/options.h has them.
inline void move_queries(RangedOptions& options, int tokens, int heads) {
  Options& others = options;
  move_queries(others, tokens, heads);
  options.ranges.token += tokens;
}

}  // namespace attend::core
