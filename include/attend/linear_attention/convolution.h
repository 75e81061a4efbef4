// The causal convolution in front of linear attention, and of its own (LFM2): each channel is convolved with a few weights, and
// a state keeps its last inputs.
//
//   static float input[tokens][channels], output[tokens][channels];
//   static const float weights[channels][4] = {…}, bias[channels] = {…};
//   static attend::ConvState<channels, 4> state;
//   attend::causal_conv<attend::ConvActivation::silu>(input, weights, bias, state, output);
#pragma once

#include "../detail/float_arrays.h"
#include "linear_calls.h"

namespace attend {

// The last width - 1 inputs of each channel, and how many tokens it has taken: sizeof is all the memory. It begins empty, as if
// zeros had come before. It may be copied, as a LinearState.
template <int channels, int width, class Arithmetic = void>
class ConvState : public detail::StateNumbers<core::conv_rule, 0, 1, width, channels> {
  static_assert(channels >= 1 && width >= 2 && width <= core::most_conv_width,
                "attend: a ConvState has at least 1 channel, and a width of 2 to 16");

 public:
  // Takes the first `count` tokens of an input and computes nothing: drafts that were accepted. Then it holds what causal_conv
  // would have left. Returns bad_count and changes nothing when that is negative, or more than the array has.
  template <class Input>
  Status append(const Input& input, int count = detail::VectorsOf<Input>::tokens) {
    constexpr bool fits = detail::VectorsOf<Input>::size == channels;
    static_assert(fits, "attend: the state of a convolution takes arrays of floats of its channels: float[tokens][channels]");
    if (count < 0 || count > detail::VectorsOf<Input>::tokens) return Status::bad_count;
    core::Convolution call{};
    call.input = detail::first_of(input), call.state = this->data_;
    call.input_stride = call.channels = channels, call.width = width, call.tokens = count;
    core::run_convolution<ConvActivation::identity>(call, 0, 1);
    this->tokens_ += uint64_t(count);
    return Status::ok;
  }
};

namespace detail {

// A call with its options, part and state, where `scales` are ok, too.
template <class Call, class State, class Run, class... More>
Status convolve(Call& call, State& state, Status scales, Run run, const More&... more) {
  LinearArguments arguments;
  (arguments.take(more), ...);
  const Part& part = arguments.part;
  Status status = set_tokens(call, arguments.options);
  if (status == Status::ok) status = scales;
  if (status != Status::ok) return status;
  if (!is_part(part)) return Status::bad_part;
  constexpr bool is_empty = Same<const State, const EmptyState>::value, stays = Same<const State, State>::value || is_empty;
  if constexpr (!stays) call.state = LinearAccess::data(state);
  if constexpr (stays && !is_empty) call.from = LinearAccess::data(state);
  run(call, part.index, part.count);
  if constexpr (!stays) LinearAccess::tokens(state) += part.index == 0 ? uint64_t(call.tokens - call.first) : 0;
  return Status::ok;
}

}  // namespace detail

// Every output is the activation of the bias, or 0, to which the last width inputs of its channel are added, the oldest first,
// each times its weight. Any cut into calls gives the same bits. A call that finds an argument out of range returns a status
// and changes nothing. The output must not overlap anything else.
// clang-format off
//   input    float[tokens][channels], Vectors<tokens, channels> or another array of floats; float[channels] is one token
//   weights  float[channels][width], as models have them (conv1d.weight): the last one is of the newest input
//   bias     float[channels], or attend::none
//   state    ConvState<channels, width>, which moves on; a const one or empty_state stays, for drafts and whole sequences
//   output   as the input
//   then     LinearOptions, of whom count, first and documents matter; a Part: threads make the same call, each with its own
// clang-format on
template <ConvActivation activation = ConvActivation::identity, class Input, class Weights, class Bias, class State,
          class Output, class... More>
Status causal_conv(const Input& input, const Weights& weights, const Bias& bias, State& state, Output& output,
                   const More&... more) {
  using detail::Same;
  using Rows = detail::VectorsOf<Input>;
  using Filter = detail::VectorsOf<Weights>;
  constexpr bool is_input = Rows::tokens > 0;
  constexpr bool are_weights = is_input && Filter::tokens == Rows::size && !detail::is_row<Weights>;
  constexpr bool is_bias =
      Same<Bias, detail::None>::value || (detail::is_row<Bias> && detail::VectorsOf<Bias>::size == Rows::size);
  constexpr bool is_empty = Same<const State, const EmptyState>::value;
  constexpr bool is_state = is_empty || Same<const State, const ConvState<Rows::size, Filter::size>>::value;
  constexpr bool is_output = detail::VectorsOf<Output>::tokens == Rows::tokens && detail::VectorsOf<Output>::size == Rows::size;
  constexpr bool only_options = detail::are_linear_arguments<0, More...>();
  static_assert(is_input, "attend: causal_conv takes an array of floats first: float[tokens][channels], or Vectors");
  static_assert(are_weights || !is_input, "attend: causal_conv takes a float[channels][width] as weights, behind the input");
  static_assert(is_bias || !are_weights,
                "attend: causal_conv takes a bias, float[channels], or attend::none behind the weights");
  static_assert(is_state || !is_bias || !are_weights,
                "attend: causal_conv takes an attend::ConvState<channels, width>, or attend::empty_state, behind the bias");
  static_assert(is_output || !is_state || !are_weights, "attend: the output of causal_conv is an array like its input");
  static_assert(only_options, "attend: at its end causal_conv takes at most one attend::LinearOptions and one attend::Part");
  if constexpr (are_weights && is_bias && is_state && is_output && only_options) {
    core::Convolution call{};
    call.input = detail::first_of(input), call.weights = detail::first_of(weights), call.bias = detail::first_of(bias);
    call.input_stride = call.output_stride = call.channels = Rows::size, call.width = Filter::size, call.tokens = Rows::tokens;
    call.output = detail::first_of(output);
    return detail::convolve(
        call, state, Status::ok,
        [](const core::Convolution& of, int part, int parts) { core::run_convolution<activation>(of, part, parts); }, more...);
  }
  return Status::ok;
}

}  // namespace attend
