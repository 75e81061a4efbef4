// What every call can be told, and what it answers: Options, Part, Status.
#pragma once

#include "config.h"

namespace attend {

enum class Status {
  ok,
  bad_query_length,  // not within 0 … query tokens of the array; the last tokens of a cache: nor within those that it holds
  bad_key_length,    // not within 0 … key tokens of the array or the cache
  empty_cache,       // nothing was appended to the cache, and key_length does not say 0
  bad_scale,         // NaN or infinite
  bad_offset,  // of calls with ScoreOptions, RingCache or State: offset + query tokens pass an int; of a layer with steps:
               // not the position that self_attention gives its tokens
  ambiguous_offset,  // over arrays of other numbers of queries and keys: a position matters, and offset does not say it
  no_effect,         // offset where no position matters; sink_tokens without a window; score_stage without scores
  bad_part,          // count not within 1 … 65535, or index not within 0 … count - 1

  bad_output,  // of projections: it shares memory with the input or another output; of layers: y is neither x nor apart from it

  // Of caches and states.
  bad_count,      // append: negative, or more tokens than the arrays have
  cache_full,     // append: the tokens do not fit
  bad_length,     // truncate: negative, or more tokens than the cache holds
  bad_begin,      // State::begin: not a multiple of segment_keys, or negative
  bad_up_to,      // accumulate: before the key that the state takes next, or after it where there are no more keys
  bad_state,      // it has taken nothing since begin or since the last finish; it is of another number of queries; it has taken
                  // more keys than there are; merge: it does not begin where the first stops
  other_options,  // of a State: not the options, the positions or the queries of the calls before; finish: not the same
                  // sink_logits, no lse where they had one, or a key_length that is not the number of keys taken
  bad_partials,   // finish: a part has not run, or with other options or another length of the cache

  // Of calls with ScoreOptions, RingCache or State.
  bad_window,       // window_left or window_right negative; over a RingCache: window_left larger than what it keeps
  bad_sink_tokens,  // negative; over a RingCache: more than it keeps
  bad_soft_cap,     // neither 0 nor within 1e-30 … 1e30
  bad_mask,         // a mask of fewer queries than query_length, and not of 1, or of fewer keys than key_length
  bad_bias,         // likewise
  bad_lse,          // of fewer tokens than query_length
  bad_scores,       // of fewer tokens or keys than there are; raw or capped over a RingCache; weights into a State
  no_score_stage,   // scores without score_stage
  not_in_ring,      // a query sees tokens that a RingCache no longer has

  // Of what stands around attention.
  bad_epsilon,   // of a normalisation: not within 1e-30 … 1e30
  bad_rotary,    // before init; init: base not within 2 … 1e12, or a scaling not within 1 … 65536
  bad_position,  // of rotary positions: negative, or tokens beyond the table or 2^31 - 1

  // Of calls in integers.
  bad_quantisation,  // a scale, or the bias of a projection, is out of range: what Quantisation and ProjectionScales say of it
  bad_zero_point,    // not within -128 … 127
};

// One English sentence for a status; never null.
const char* status_text(Status status);

// A setting whose default depends on the call, until a number is given to it.
template <class Type>
struct Setting {
  bool given = false;
  Type number{};

  constexpr Setting() = default;
  constexpr Setting(Type is) : given(true), number(is) {}
  constexpr Type or_else(Type fallback) const { return given ? number : fallback; }
};

struct Options {
  Setting<bool> causal{};  // query i sees keys 0 … offset + i; false: all. True for several tokens over a cache, else false
  // Position of query 0, any sign, offset + tokens within an int, for causal calls, windows and biases by position. Not said:
  // over a cache its length - query_length; over arrays 0, where there are as many queries as keys, of arrays or by lengths.
  // Elsewhere it must be said: the queries may be the first or the last of the keys' tokens. Refused where it does nothing.
  Setting<int> offset{};
  Setting<int> query_length{};  // query tokens to compute, from the first; all in the array. Outputs after them are not touched
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

// A share of a call, for threads or cores: each makes the same call with its own index, its own work memory and the same
// output, of which every part writes a different piece. All together give the bits of the whole call, for any count up to
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

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }

}  // namespace detail
}  // namespace attend
