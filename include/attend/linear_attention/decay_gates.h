// Gates from what a projection gives, z: Gates::log_decay, of value heads or of each of their key dimensions.
//
//   attend::decay_gate(z, rates, bias, gates.log_decay);            // Mamba-2, Gated DeltaNet, Kimi Linear
//   attend::bounded_gate(z, rates, bias, -5.0f, gates.log_decay);   // Kimi Linear with a lower bound
#pragma once

#include "../detail/float_arrays.h"
#include "core_linear_attention.h"

namespace attend {
namespace detail {
template <class Z, class Rates, class Bias, class LogDecay>
core::GateInputs gate_inputs(const Z& z, const Rates& rates, const Bias& bias, LogDecay& log_decay, float lower_bound) {
  using Rows = VectorsOf<Z>;
  constexpr bool is_z = Rows::tokens > 0,
                 is_result = VectorsOf<LogDecay>::tokens == Rows::tokens && VectorsOf<LogDecay>::size == Rows::size;
  constexpr bool is_bias = Same<Bias, None>::value || (are_floats<Bias> && ArrayOf<Bias>::count == Rows::size);
  constexpr bool are_rates = is_row<Rates> && (!is_z || Rows::size % ArrayOf<Rates>::count == 0);
  static_assert(is_z && is_result, "attend: a gate takes an array of floats, and has as many: float[tokens][heads], say");
  static_assert(are_rates, "attend: the rates of a gate are a float[heads]: one for each number of a token, or for some");
  static_assert(is_bias || !is_z, "attend: the bias of a gate is as many floats as a token has, or attend::none");
  return {
      first_of(z), first_of(bias), first_of(rates), first_of(log_decay), Rows::tokens, Rows::size, int(ArrayOf<Rates>::count),
      lower_bound};
}
}  // namespace detail

// log_decay = rate * softplus(z + bias), with softplus(x) = ln(1 + e^x). rates are -e^A_log of a model, its bias dt_bias.
template <class Z, class Rates, class Bias, class LogDecay>
void decay_gate(const Z& z, const Rates& rates, const Bias& bias, LogDecay& log_decay) {
  core::decay_gates(detail::gate_inputs(z, rates, bias, log_decay, 0.0f));
}

// log_decay = lower_bound * sigmoid(rate * (z + bias)). rates are e^A_log of a model; lower_bound is below 0.
template <class Z, class Rates, class Bias, class LogDecay>
void bounded_gate(const Z& z, const Rates& rates, const Bias& bias, float lower_bound, LogDecay& log_decay) {
  core::bounded_gates(detail::gate_inputs(z, rates, bias, log_decay, lower_bound));
}

}  // namespace attend
