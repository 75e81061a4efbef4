// What every call takes: Options, Part; ScoreOptions, for calls with masks, windows, biases and further results; and
// RangedOptions, for calls whose queries see ranges of keys or are of several documents.
#pragma once

#include "detail/option_settings.h"
#include "status.h"

namespace attend {

// A setting whose default depends on the call, until a number is given to it.
template <class Type>
struct Setting {
  bool given = false;
  Type number{};

  constexpr Setting() = default;
  constexpr Setting(Type number_) : given(true), number(number_) {}
  // The number, or another one where none is given.
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
  Setting<float> scale{};       // of the scores, -2^127 … 2^127 (1.7e38), zero and negative too; 1 / sqrt(head_dim)
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
// output, in which every part writes another range. All together give the bits of the whole call, for any count up to
// 65535. Part{} is the whole.
struct Part {
  int index = 0;
  int count = 1;
};

// A part of the call of a multi-head layer (multi_head.h), whose threads read what the others have written: each makes the same
// call with its own index, and the same arrays, cache and work memory. Other calls take it as a Part.
struct TeamPart : Part {
  void (*barrier)(void* context) = nullptr;  // returns once all threads have called it; null for one thread alone
  void* context = nullptr;                   // what barrier gets
};

namespace detail {

inline uint32_t bits_of(float number) {
  uint32_t bits;
  ATTEND_MEMCPY(&bits, &number, sizeof bits);
  return bits;
}

inline bool is_part(const Part& part) { return part.index >= 0 && part.index < part.count && part.count <= 65535; }

}  // namespace detail

// ScoreOptions, the options of calls beyond Options: windows, masks, biases, a soft cap, sink logits; and more results.
// attention, prefill, decode and accumulate take them instead of Options, in float32 with an OptionWorkspace as work memory.
//
//   attend::ScoreOptions<Wake> options;
//   options.causal = true;
//   options.window_left = 128;
//   options.sink_tokens = 4;
//   attend::attention(query, key, value, output, work, options);
//
// Programs that make no such call hold none of the code. Options and what a call fills in take 1 KB of stack.

namespace detail {

// The default of a missing shape, so that the compiler can report it.
struct NoShape {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 1;
};

// Which keys a query at position p = offset + its index sees, in calls of floats and of integers.
template <class Shape>
struct VisibilityOptions : Options {
  Setting<int> window_left{};   // >= 0: j >= p - window_left, or j < sink_tokens; in a RingCache what the ring keeps, or less
  Setting<int> window_right{};  // >= 0: j <= p + window_right
  Setting<int> sink_tokens{};   // >= 0: the first keys, which window_left does not mask; 0, or what a RingCache keeps. Refused
                                // without a window
  MaskSetting<Shape> mask{};    // Mask or BitMask<1 or queries, 1 or query_heads, keys>

  // For accumulate into a State, where other calls take earlier keys: the position of the first token of the arrays or of the
  // KvCache, a multiple of segment_keys (512). Masks, biases and scores still have columns from position 0 on.
  int origin = 0;

  constexpr VisibilityOptions() = default;
  constexpr VisibilityOptions(const Options& options) : Options(options) {}
};

}  // namespace detail

// What is not set is off. A query at position p = offset + its index gets, for key j that it sees, the score
//
//   cap(scale * dot(query, key)) + bias[j] + relative_bias[j - p] + alibi_slope * (j - p),
//   cap(x) = soft_cap * tanh(x / soft_cap); with BiasStage::before_cap, cap(scale * dot(query, key) + bias[j]) + …
//
// It sees the keys that all of causal, the window, key_length, mask and the two biases let through; a query without any gets
// zeros. Arrays are not copied: they must live until the call is over.
template <class Shape = detail::NoShape, class = typename detail::ArithmeticOf<Shape>::Type>
struct ScoreOptions : detail::VisibilityOptions<Shape> {
  static_assert(!detail::Same<Shape, detail::NoShape>::value,
                "attend: options are of a shape: write attend::ScoreOptions<Shape>, with the shape of the call's arrays");
  detail::BiasSetting<Shape> bias{};               // Bias<1 or queries, 1 or query_heads, keys>
  BiasStage bias_stage = BiasStage::after_cap;     // before_cap is refused without a bias and a soft_cap
  detail::RelativeSetting<Shape> relative_bias{};  // RelativeBias<1 or query_heads, left, right>
  detail::HeadSetting<Shape> alibi_slopes{};       // float[query_heads]
  detail::HeadSetting<Shape> sink_logits{};        // float[query_heads]: a logit that joins the denominator and has no value
  float soft_cap = 0.0f;                           // 1e-30 … 1e30, and scale / soft_cap below 2^124 (2e37); 0: none

  detail::LseSetting<Shape> lse{};        // Lse<Shape, at least query_length>
  LseBase lse_base = LseBase::e;          // of its logarithm, and of the powers that are summed up: refused without lse
  detail::ScoresSetting<Shape> scores{};  // Scores<Shape, at least query_length, at least key_length>
  Setting<ScoreStage> score_stage{};      // which scores these are: must be set with them, and is refused without

  constexpr ScoreOptions() = default;
  constexpr ScoreOptions(const Options& options) : detail::VisibilityOptions<Shape>(options) {}
};

// The slopes of ALiBi for so many query heads, as they were published: 2^-1, 2^-2 … 2^-8 for 8, behind which 12 have 2^-0.5,
// 2^-1.5, 2^-2.5 and 2^-3.5. The same bits on every target.
template <size_t heads>
void alibi_slopes(float (&slopes)[heads]) {
  static_assert(heads <= 65536, "attend: alibi_slopes takes a float[] of at most 65536 heads");
  core::alibi_slopes(int(heads), slopes);
}

// All options of a call in integers. Options::scale is refused, because it is part of the Quantisation.
template <class Shape>
struct ScoreOptions<Shape, integer> : detail::VisibilityOptions<Shape> {
  detail::TokenSetting<Shape> key_scales{};    // TokenScales<Shape, at least key_length>; the zero point of
  detail::TokenSetting<Shape> value_scales{};  // keys or values that have them is 0 in the Quantisation

  constexpr ScoreOptions() = default;
  constexpr ScoreOptions(const Options& options) : detail::VisibilityOptions<Shape>(options) {}
};

// ScoreOptions with a range of keys for each query, or with documents. Attention, prefill, decode and layers take them in the
// place of ScoreOptions, accumulate does not. Nothing of the size of queries times keys exists, and keys that no query of a
// block sees are not read.
//
//   attend::FirstKeys<tokens> ranges;              // chunks of 8192 keys (Llama 4): causal, and first[i] = i / 8192 * 8192
//   attend::RangedOptions<Shape> options = attend::causal();
//   options.ranges = ranges;
//
// Without causal, ranges say it all: in a prefix that sees itself both ways EndKeys have end[i] = max(i + 1, prefix), and in a
// span of image tokens its end. Ranges<tokens> have both. Queries are computed together as long as both limits stay the same
// from query to query, or move on by one key, as they do in all of these; others one by one. Where positions matter too
// (causal, a window, a bias by distance), so are queries whose range has a moving limit and lacks their own key.
//
//   attend::Documents<64> documents;               // packed: documents.add(length) for each
//   attend::RangedOptions<Shape> packed = attend::causal();
//   packed.documents = documents;
//
// Each document has as many queries as keys, sees itself alone, and has the bits that it would have alone in arrays: positions
// count from its beginning, for causal, windows, sink tokens and biases by distance. Columns of masks, biases, scores and
// ranges are tokens of the arrays.
template <class Shape = detail::NoShape>
struct RangedOptions : ScoreOptions<Shape> {
  // Ranges, FirstKeys or EndKeys<at least query_length>. Raw and capped scores are refused beside them, and beside documents.
  detail::RangesSetting ranges{};
  // Documents<any number>, over arrays that have all of their tokens. An offset is refused beside them, and so are they by
  // layers whose steps use positions: rotated() and scaled_queries().
  detail::DocumentsSetting documents{};

  constexpr RangedOptions() = default;
  constexpr RangedOptions(const Options& options) : ScoreOptions<Shape>(options) {}
  constexpr RangedOptions(const ScoreOptions<Shape>& options) : ScoreOptions<Shape>(options) {}
};

}  // namespace attend
