// Normalisation around linear attention, made of rms_norm and activate.
//
//   attend::l2_norm(key, key);                                                // each head by itself: the last extent
//   attend::gated_rms_norm<attend::GateOrder::last>(output, gate, weight, y);  // Gated DeltaNet: a weight of value_dim
//   attend::gated_rms_norm<attend::GateOrder::first>(y, gate, weight, y);      // Mamba-2
#pragma once

#include "row_functions.h"

namespace attend {

// y = x / sqrt(sum(x^2) + epsilon), row by row, as rms_norm, which has the mean, times 1 / sqrt(width). y may be x.
template <class X, class Y>
Status l2_norm(const X& x, Y& y, float epsilon = 1e-6f) {
  constexpr size_t count = detail::SameNumbers<X, Y>::count;
  constexpr int width = detail::ArrayOf<X>::last < 1 ? 1 : int(detail::ArrayOf<X>::last);
  if (!core::is_epsilon(epsilon)) return Status::bad_epsilon;
  core::scale(1.0f / width, 1, &epsilon);  // by the library: the caller's arithmetic may round otherwise
  core::rms_norm(detail::normalisation_of(x, none, none, y, epsilon));
  core::scale(default_scale(width), int(count), detail::first_of(y));
  return Status::ok;
}

// When a gate multiplies: after normalisation and weight, or before.
enum class GateOrder { last, first };

// last:   y = rms_norm(x) * weight * f(gate)
// first:  y = rms_norm(x * f(gate)) * weight
//
// with f = silu, or another activation (sigmoid in Kimi Linear). Rows are as long as the weight, and of each row so many groups
// are normalised by themselves. y may be x, and with GateOrder::first the gate.
template <GateOrder order, int groups = 1, Activation activation = Activation::silu, class X, class Gate, class Weight, class Y>
Status gated_rms_norm(const X& x, const Gate& gate, const Weight& weight, Y& y, float epsilon = 1e-5f) {
  constexpr int count = int(detail::SameNumbers<X, Gate, Y>::count);
  core::Normalisation n = detail::normalisation_of(x, weight, none, y, epsilon);
  constexpr size_t width = detail::NormalisedRows<X, Weight, detail::None, Y>::width;
  static_assert(groups >= 1 && width % groups == 0, "attend: groups of gated_rms_norm must divide its rows");
  if (!core::is_epsilon(epsilon)) return Status::bad_epsilon;
  if (order == GateOrder::first) core::activate<activation>(detail::first_of(gate), n.from, count, n.to), n.from = n.to;
  n.width /= groups;
  for (int group = 0; group < groups; ++group, n.from += n.width, n.to += n.width) {
    core::rms_norm(n);
    if (n.weight != nullptr) n.weight += n.width;
  }
  float* const to = detail::first_of(y);
  if (order == GateOrder::last) core::activate<activation>(detail::first_of(gate), to, count, to);
  return Status::ok;
}

}  // namespace attend
