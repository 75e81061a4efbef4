// Attention in integers of 8 bits: the calls of a shape whose arithmetic is attend::integer, without one float instruction, for
// processors without floats and for models that are quantised already. On hosts it is faster than floats.
//
//   using Talk = attend::Integer<Wake>;
//   constexpr attend::Quantisation<Talk> quantisation(0.031, 0.027, 0.02, 0.008);  // scales of query, key, value and output
//   static attend::KvCache<Talk> cache;
//   static attend::Workspace<Talk, 1> work;
//   cache.append(key, value);  // Key<Talk>, Value<Talk>: numbers of 8 bits
//   attend::decode(query, cache, output, work, quantisation);
//
// All calls of attention.h, states.h and key_parts.h are those of floats, with work memory of the shape and then a
// Quantisation; ScoreOptions need no OptionWorkspace. Over a cache queries see at most 65535 tokens.
//
// The results are the same bits on every target, in any cutting into parts, blocks and calls. The number of instructions of a
// call depends on its shape and its masks alone, not on its numbers. Errors: include/guide/integers.md.
#pragma once

#include "core/integer.h"
#include "shape.h"
#include "status.h"

namespace attend {

namespace detail {
constexpr bool is_zero_point(int zero) { return zero >= -128 && zero <= 127; }
}  // namespace detail

// The scale of a tensor: a number stands for scale * (number - zero_point).
struct TensorScale {
  double scale;
  int zero_point;

  constexpr TensorScale(double of_one_step, int zero = 0) : scale(of_one_step), zero_point(zero) {}
};

// The scales of a call. Made once, best as a constant: the call itself computes with integers only.
//
//   constexpr attend::Quantisation<attend::Integer<Wake>> quantisation(0.031, 0.027, 0.02, {0.008, -3});
//
// The scales of queries, keys, values and outputs are finite and above 0; `scale`, that of the scores, is 0 or above. log2(e) *
// scale * query scale * key scale must be below 1 (scale * query scale * key scale below ln 2), and value scale / output scale
// within 2^-10 … 2^18; calls refuse others with bad_quantisation. The zero point of the keys makes no difference to a softmax
// and has no place here; that of the queries is an option. `heads` is 1, or query_heads: then set_head sets each head's.
template <class Shape, int heads = 1>
class Quantisation {
  using Dims = detail::Checked<Shape>;
  static_assert(detail::is_integer<Shape>,
                "attend: a Quantisation is of an integer shape: write attend::Quantisation<attend::Integer<Shape>>");
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
    const double step = core::product(core::product(core::product(1.4426950408889634, scale), query_scale), key_scale);
    const double steps = core::quotient(of_values.scale, of_outputs.scale);
    const bool ordinary = query_scale > 0 && key_scale > 0 && of_values.scale > 0 && of_outputs.scale > 0;
    if (!ordinary || !core::is_score_step(step) || !core::is_output_step(steps)) {
      status_ = Status::bad_quantisation;
    } else if (!detail::is_zero_point(of_values.zero_point) || !detail::is_zero_point(of_outputs.zero_point)) {
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
  core::ScoreScale scores_[size_t(heads)];
  core::OutputScale outputs_[size_t(heads)];
  Status status_;
};

}  // namespace attend
