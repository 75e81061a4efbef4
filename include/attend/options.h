// The arguments that every call takes: Options, Part.
#pragma once

#include "config.h"
#include "status.h"

namespace attend {

// A setting whose default depends on the call, until a number is given to it.
template <class Type>
struct Setting {
  bool given = false;
  Type number{};

  constexpr Setting() = default;
  constexpr Setting(Type number_) : given(true), number(number_) {}
  constexpr Type or_else(Type fallback) const { return given ? number : fallback; }
};

struct Options {
  Setting<bool> causal{};  // query i sees keys 0 … offset + i; false: all. True for several tokens over a cache, else false
  // Position of query 0, any sign, offset + tokens within an int, for causal calls, windows and biases by position. Not set:
  // over a cache its length - query_length; over arrays 0, where there are as many queries as keys, of arrays or by lengths.
  // Elsewhere it must be set: the queries may be the first or the last of the keys' tokens. Refused where it does nothing.
  Setting<int> offset{};
  Setting<int> query_length{};  // query tokens to compute, from the first; all in the array. Later outputs stay as they are
  Setting<int> key_length{};    // keys at or after it do not exist; all in the array or cache
  Setting<float> scale{};       // of the scores, any finite number, zero and negative too; 1 / sqrt(head_dim)
};

// Options with just the causal mask. "Bottom-right" alignment is causal(keys - queries).
constexpr Options causal() {
  Options options;
  options.causal = true;
  return options;
}
constexpr Options causal(int offset) {
  Options options = causal();
  options.offset = offset;
  return options;
}

// A part of a call, for threads or cores: each makes the same call with its own index, its own work memory and the same
// output, of which every part writes another range. All together give the bits of the whole call, for any count up to
// 65535. Part{} is the whole.
struct Part {
  int index = 0;
  int count = 1;
};

namespace detail {

// By its bits: without a floating-point unit, comparisons are calls.
inline bool is_finite(float a) {
  unsigned bits;
  static_assert(sizeof bits == sizeof a, "attend: unsigned must have 32 bits");
  __builtin_memcpy(&bits, &a, sizeof a);
  return (bits & 0x7fffffffu) < 0x7f800000u;
}

inline bool is_part(const Part& part) { return part.index >= 0 && part.index < part.count && part.count <= 65535; }

}  // namespace detail
}  // namespace attend
