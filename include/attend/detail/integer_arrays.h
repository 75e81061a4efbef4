// Arrays of integer attention: 8-bit numbers, and the scales that give them their meaning.
#pragma once

#include "../core/integer.h"
#include "../options.h"
#include "../shape.h"
#include "option_arrays.h"

namespace attend {

// As Query, Key, Value and Output, of 8-bit numbers.
template <class Shape, int tokens = 1>
struct IntegerQuery : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::head_dim, int8_t> {};
template <class Shape, int tokens = 1>
struct IntegerKey : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::head_dim, int8_t> {};
template <class Shape, int tokens = 1>
struct IntegerValue : detail::Rows<tokens, detail::Checked<Shape>::kv_heads, detail::Checked<Shape>::value_dim, int8_t> {};
template <class Shape, int tokens = 1>
struct IntegerOutput : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::value_dim, int8_t> {};

// An output of 16-bit numbers, for what follows to round.
template <class Shape, int tokens = 1>
struct Int16Output : detail::Rows<tokens, detail::Checked<Shape>::query_heads, detail::Checked<Shape>::value_dim, int16_t> {};

// The scale of a tensor: a number stands for scale * (number - zero_point).
struct TensorScale {
  double scale;
  int zero_point;

  constexpr TensorScale(double of_one_step, int zero = 0) : scale(of_one_step), zero_point(zero) {}
};

// The scales of a call. Made once, best as a constant: the call itself computes with integers only.
//
//   constexpr attend::Quantisation<Wake> quantisation(0.031, 0.027, 0.02, {0.008, -3});
//
// The scales of queries, keys, values and outputs are finite and above 0; `scale`, that of the scores, is 0 or above. log2(e) *
// scale * query scale * key scale must be below 1 (scale * query scale * key scale below ln 2), and value scale / output scale
// within 2^-10 … 2^18; calls refuse others with bad_quantisation. The zero point of the keys makes no difference to a softmax
// and has no place here; that of the queries is an option. `heads` is 1, or query_heads: then set_head sets each head's.
template <class Shape, int heads = 1>
class Quantisation {
  using Dims = detail::Checked<Shape>;
  static_assert(heads == 1 || heads == Dims::query_heads,
                "attend: a Quantisation is of 1 head, for all of them, or of the shape's query heads");

 public:
  constexpr Quantisation(double query_scale, double key_scale, TensorScale of_values, TensorScale of_outputs,
                         double scale = double(default_scale(Dims::head_dim)))
      : scores_{}, outputs_{}, status_(Status::ok) {
    for (int head = 0; head < heads; ++head) set_head(head, query_scale, key_scale, of_values, of_outputs, scale);
  }

  constexpr void set_head(int head, double query_scale, double key_scale, TensorScale of_values, TensorScale of_outputs,
                          double scale = double(default_scale(Dims::head_dim))) {
    const double step = 1.4426950408889634 * scale * query_scale * key_scale, steps = of_values.scale / of_outputs.scale;
    const bool ordinary = query_scale > 0 && key_scale > 0 && of_values.scale > 0 && of_outputs.scale > 0;
    if (!ordinary || !core::is_score_step(step) || !core::is_output_step(steps)) {
      status_ = Status::bad_quantisation;
    } else if (!is_zero_point(of_values.zero_point) || !is_zero_point(of_outputs.zero_point)) {
      status_ = Status::bad_zero_point;
    } else {
      scores_[head] = core::score_scale(step);
      outputs_[head] = core::output_scale(steps, of_values.zero_point, of_outputs.zero_point);
    }
  }

  // ok, bad_quantisation or bad_zero_point: for a static_assert.
  constexpr Status status() const { return status_; }

  constexpr const core::ScoreScale* scores() const { return scores_; }
  constexpr const core::OutputScale* outputs() const { return outputs_; }
  static constexpr int head_stride = heads == 1 ? 0 : 1;

 private:
  static constexpr bool is_zero_point(int zero) { return zero >= -128 && zero <= 127; }

  core::ScoreScale scores_[size_t(heads)];
  core::OutputScale outputs_[size_t(heads)];
  Status status_;
};

// The options of an integer call beyond Options, as ScoreOptions are for calls in floats. Options::scale is refused: it is part
// of the Quantisation.
template <class Shape>
struct IntegerOptions : Options {
  Setting<int> window_left{};         // >= 0: j >= p - window_left, or j < sink_tokens
  Setting<int> window_right{};        // >= 0: j <= p + window_right
  Setting<int> sink_tokens{};         // >= 0: the first keys, which window_left does not mask
  detail::MaskSetting<Shape> mask{};  // Mask or BitMask<1 or queries, 1 or query_heads, keys>
  Setting<int> query_zero_point{};    // -128 … 127; 0

  constexpr IntegerOptions() = default;
  constexpr IntegerOptions(const Options& options) : Options(options) {}
};

}  // namespace attend
