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
// All calls of attention.h, batch.h and states.h take integers as they take floats. After its arrays a call takes
//
//   attention          Workspace<Shape, queries, keys>, with ScoreOptions too
//   prefill, decode    Workspace<Shape, tokens>, with ScoreOptions and over pages too; over a RingCache
//                      Workspace<Shape, tokens, over_ring<Sizes>>
//   accumulate         Workspace<Shape, tokens>; finish takes none
//   then               a Quantisation<Shape>, then options and a part as in floats
//
// Over a cache queries see at most 65535 tokens.
//
// The results are the same bits on every target, in any cutting into parts, blocks and calls. The number of instructions of a
// call depends on its shape and its masks alone, not on its numbers. Errors: include/guide/integers.md.
#pragma once

#include "attention.h"
#include "detail/integer_calls.h"

namespace attend {

// The most stack that calls in integers take, append too, as prefill_stack_bytes. The second is for calls with options or a
// RingCache, and for states.
inline constexpr size_t integer_stack_bytes = config::integer_stack_bytes;
inline constexpr size_t integer_option_stack_bytes = config::integer_option_stack_bytes;

// The scale of a tensor: a number stands for scale * (number - zero_point).
struct TensorScale {
  double scale;
  int zero_point;

  constexpr TensorScale(double step, int zero = 0) : scale(step), zero_point(zero) {}
};

// The scales of a call. Made once, best as a constant: the call itself computes with integers only.
//
//   constexpr attend::Quantisation<attend::Integer<Wake>> quantisation({0.031, 44}, {0.027, 5}, 0.02, {0.008, -3});
//
// A tensor without a zero point is a number, its scale. The scales of queries, keys, values and outputs are finite and above 0;
// `scale`, the scale of the scores, is 0 or above. log2(e) * scale * query scale * key scale must be below 1 (scale * query
// scale * key scale below ln 2), and value scale / output scale within 2^-10 … 2^18; calls refuse others with bad_quantisation,
// and a constant of them does not compile. `heads` is 1, or query_heads: then set_head sets each head's, and the zero point of
// the queries stays the constructor's. Queries with a zero point take more time, because it needs a sum over each key, and the
// stack of calls with options. The zero point of the keys makes no difference to a softmax.
template <class Shape, int heads = 1>
class Quantisation {
  using Dims = detail::Checked<Shape>;
  static_assert(detail::is_integer<Shape>,
                "attend: a Quantisation is of an integer shape: write attend::Quantisation<attend::Integer<Shape>>");
  static_assert(heads == 1 || heads == Dims::query_heads,
                "attend: a Quantisation is of 1 head, for all of them, or of the shape's query heads");

 public:
  // Inlined, so that a program whose queries have no zero point holds no code for one.
  [[gnu::always_inline]] constexpr Quantisation(TensorScale query_scale, TensorScale key_scale, TensorScale value_scale,
                                                TensorScale output_scale, double scale = double(default_scale(Dims::head_dim)))
      : scores_{},
        outputs_{},
        run_with_zero_(query_scale.zero_point != 0 ? detail::run_with_zero : nullptr),
        query_zero_(int16_t(query_scale.zero_point)),
        has_key_zero_(false),
        status_(uint8_t(Status::ok)) {
    for (int head = 0; head < heads; ++head) set_head(head, query_scale, key_scale, value_scale, output_scale, scale);
  }

  constexpr void set_head(int head, TensorScale query_scale, TensorScale key_scale, TensorScale value_scale,
                          TensorScale output_scale, double scale = double(default_scale(Dims::head_dim))) {
    using namespace detail;
    const double scales = core::product(core::product(1.4426950408889634, scale), query_scale.scale);
    const bool ordinary = query_scale.scale > 0 && key_scale.scale > 0 && value_scale.scale > 0 && output_scale.scale > 0;
    const double step = core::product(scales, key_scale.scale);
    const double steps = ordinary ? core::quotient(value_scale.scale, output_scale.scale) : 0;
    if (!core::is_score_step(step) || !core::is_output_step(steps)) {
      refuse(Status::bad_quantisation);
    } else if (!is_zero_point(query_scale.zero_point) || !is_zero_point(key_scale.zero_point) ||
               !is_zero_point(value_scale.zero_point) || !is_zero_point(output_scale.zero_point) ||
               query_scale.zero_point != query_zero_) {
      refuse(Status::bad_zero_point);
    } else {
      scores_[head] = core::score_scale(step);
      outputs_[head] = core::output_scale(steps, value_scale.zero_point, output_scale.zero_point);
      has_key_zero_ = has_key_zero_ || key_scale.zero_point != 0;
    }
  }

  // ok, bad_quantisation or bad_zero_point, with which a constant does not compile.
  constexpr Status status() const { return Status(status_); }

  // As the calls read them.
  constexpr const core::ScoreScale* scores() const { return scores_; }
  constexpr const core::OutputScale* outputs() const { return outputs_; }
  static constexpr int head_stride = heads == 1 ? 0 : 1;
  constexpr int query_zero() const { return query_zero_; }
  constexpr bool has_key_zero() const { return has_key_zero_; }
  constexpr detail::RunWithZero run_with_zero() const { return run_with_zero_; }

 private:
  constexpr void refuse(Status status) { status_ = uint8_t(detail::refused(status)); }

  core::ScoreScale scores_[size_t(heads)];
  core::OutputScale outputs_[size_t(heads)];
  detail::RunWithZero run_with_zero_;  // null where the queries have no zero point
  int16_t query_zero_;                 // small numbers, for a constant that lies in flash
  bool has_key_zero_;
  uint8_t status_;
};

}  // namespace attend
