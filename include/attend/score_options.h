// ScoreOptions, the options of calls beyond Options: windows, masks, biases, a soft cap, sink logits; and more results.
// attention, prefill, decode and accumulate take them in the place of Options, with an OptionWorkspace as work memory.
//
//   attend::ScoreOptions<Wake> options;
//   options.causal = true;
//   options.window_left = 128;
//   options.sink_tokens = 4;
//   attend::attention(query, key, value, output, work, options);
//
// Programs that make no such call hold none of the code. Options and what a call fills in take 1 KB of stack.
#pragma once

#include "option_arrays.h"
#include "options.h"

namespace attend {
namespace detail {

// The default of a missing shape, so that the compiler can report it.
struct NoShape {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 1;
};

}  // namespace detail

// What is not set is off. A query at position p = offset + its index gets, for key j that it sees, the score
//
//   cap(scale * dot(query, key)) + bias[j] + relative_bias[j - p] + alibi_slope * (j - p),
//   cap(x) = soft_cap * tanh(x / soft_cap)
//
// It sees the keys that all of causal, the window, key_length, mask and the two biases let through; a query without any gets
// zeros.
// Arrays are not copied: they must live until the call is over.
template <class Shape = detail::NoShape>
struct ScoreOptions : Options {
  static_assert(!detail::Same<Shape, detail::NoShape>::value,
                "attend: options are of a shape: write attend::ScoreOptions<Shape>, with the shape of the call's arrays");
  Setting<int> window_left{};   // >= 0: j >= p - window_left, or j < sink_tokens; in a RingCache what the ring keeps, or less
  Setting<int> window_right{};  // >= 0: j <= p + window_right
  Setting<int> sink_tokens{};   // >= 0: the first keys, which window_left does not mask; 0, or what a RingCache keeps. Refused
                                // without a window

  detail::MaskSetting<Shape> mask{};               // Mask or BitMask<1 or queries, 1 or query_heads, keys>
  detail::BiasSetting<Shape> bias{};               // Bias<1 or queries, 1 or query_heads, keys>
  detail::RelativeSetting<Shape> relative_bias{};  // RelativeBias<1 or query_heads, left, right>
  detail::HeadSetting<Shape> alibi_slopes{};       // float[query_heads]
  detail::HeadSetting<Shape> sink_logits{};        // float[query_heads]: a logit that joins the denominator and has no value
  float soft_cap = 0.0f;                           // 1e-30 … 1e30, and scale / soft_cap below 1e38; 0: none

  detail::LseSetting<Shape> lse{};        // Lse<Shape, at least query_length>
  detail::ScoresSetting<Shape> scores{};  // Scores<Shape, at least query_length, at least key_length>
  Setting<ScoreStage> score_stage{};      // which scores these are: must be set with them, and is refused without

  constexpr ScoreOptions() = default;
  constexpr ScoreOptions(const Options& options) : Options(options) {}
};

}  // namespace attend
