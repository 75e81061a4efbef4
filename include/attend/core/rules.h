// What is refused of a call whose options do not go together or are out of range, once for both surfaces. Each has words of its
// own for an answer: attend::Status, and the errors and arguments of C. What a surface checks of its arrays is its own.
#pragma once

#include "ranges.h"

namespace attend::core {

enum class Refused : uint8_t {
  nothing,
  scale,                 // not within -2^127 … 2^127
  soft_cap,              // neither 0 nor within 1e-30 … 1e30
  scale_by_cap,          // scale / soft_cap is not below 2^124
  sinks_without_window,  // sink tokens, where all keys are seen
  bias_stage,            // a bias before the cap, without a bias or without a cap
  lse_base,              // a base without a log-sum-exp
  weights_into_states,   // the denominators are not known before the last key
  last = weights_into_states
};

// Whether a scale has a magnitude of at most 2^127, so that its product with log2(e), by which scores are computed, is finite.
// The bits are compared, because comparing floats calls a function where there is no floating-point unit.
inline bool is_scale(float scale) {
  uint32_t bits;
  ATTEND_MEMCPY(&bits, &scale, sizeof bits);
  return (bits & 0x7fffffffu) <= 0x7f000000u;
}

// The first of these that a call is refused for; of integers, whose scale is 0, only what they have counts.
Refused refused(const Problem& problem, const Options& options);

// Whether each of the first queries has a range from 0 or later on that does not end before it begins.
bool are_ranges(const Ranges& ranges, int queries);

}  // namespace attend::core
