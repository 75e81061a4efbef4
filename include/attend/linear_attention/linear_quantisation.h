// The scales of linear attention in integers.
#pragma once

#include "../detail/integer_calls.h"
#include "linear_shape.h"

namespace attend {

// Made once, best as a constant; a number of 8 bits stands for scale * number, and there are no zero points. `scale` is that of
// queries, as LinearOptions has it in floats. Keys of unit norm have the key scale 1 / 127. The key scale must be at least
// 2^-16 and below 1, query scale * key scale * value scale * scale / output scale at least 2^-40 and below 2^-6; calls refuse
// others with bad_quantisation, and a constant of them does not compile. `heads` is 1, or value_heads, for set_head.
template <class Shape, int heads = 1>
class LinearQuantisation {
  using Dims = detail::LinearChecked<Shape>;
  static_assert(
      detail::is_integer<Shape>,
      "attend: a LinearQuantisation is of an integer shape: write attend::LinearQuantisation<attend::Integer<Shape>>");
  static_assert(heads == 1 || heads == Dims::value_heads,
                "attend: a LinearQuantisation is of 1 head, for all of them, or of the shape's value heads");

 public:
  constexpr LinearQuantisation(double query_scale, double key_scale, double value_scale, double output_scale,
                               double scale = double(default_scale(Dims::head_dim)))
      : scales_{}, status_(Status::ok) {
    for (int head = 0; head < heads; ++head) set_head(head, query_scale, key_scale, value_scale, output_scale, scale);
  }

  constexpr void set_head(int head, double query_scale, double key_scale, double value_scale, double output_scale,
                          double scale = double(default_scale(Dims::head_dim))) {
    using namespace core;
    const bool ordinary = query_scale > 0 && value_scale > 0 && output_scale > 0;
    const double outputs = ordinary ? linear_output_factor(query_scale, key_scale, value_scale, scale, output_scale) : 0;
    if (!is_linear_scale(key_scale, outputs)) {
      status_ = detail::refused(Status::bad_quantisation);
    } else {
      scales_[head] = linear_scale(key_scale, outputs);
    }
  }

  // ok, or bad_quantisation where any head was refused, with which a constant does not compile.
  constexpr Status status() const { return status_; }
  constexpr const core::LinearScale* scales() const { return scales_; }

 private:
  core::LinearScale scales_[size_t(heads)];
  Status status_;
};

namespace detail {
template <class Shape, class Any>
struct IsLinearQuantisation {
  static constexpr bool value = false;
};
template <class Shape, int heads>
struct IsLinearQuantisation<Shape, LinearQuantisation<Shape, heads>> {
  static constexpr bool value = true;
};

// What an argument of a call says of its scales.
template <class Call, class Any>
constexpr Status set_scales(Call&, const Any&) {
  return Status::ok;
}
template <class Shape, int heads>
constexpr Status set_scales(core::IntegerLinearAttention& call, const LinearQuantisation<Shape, heads>& quantisation) {
  call.scales = quantisation.scales(), call.scale_stride = heads > 1;
  return quantisation.status();
}
}  // namespace detail
}  // namespace attend
