// The causal convolution in integers of 8 bits, in front of linear attention in integers; its calls are those of convolution.h,
// with scales behind the output.
//
//   static int8_t input[tokens][channels], output[tokens][channels];
//   static const int8_t weights[channels][4] = {…};
//   static const int32_t bias[channels] = {…};                                     // in steps of input scale * weight scale
//   static attend::ConvState<channels, 4, attend::integer> state;
//   constexpr attend::ConvQuantisation<1, attend::ConvActivation::silu> scales(0.02, 0.005, 0.02, 0.03);
//   attend::causal_conv(input, weights, bias, state, output, scales);
#pragma once

#include "convolution.h"
#include "core_integer_convolution.h"
#include "gate_tables.h"

namespace attend {

template <int channels, int width>
class ConvState<channels, width, integer>
    : public detail::StateNumbers<core::conv_rule + core::integer_rule, 0, 1, width, channels> {
  static_assert(channels >= 1 && width >= 2 && width <= core::most_conv_width,
                "attend: a ConvState has at least 1 channel, and a width of 2 to 16");

 public:
  // As of a state in floats.
  template <class Input>
  Status append(const Input& input, int count = detail::VectorsOf<Input, true>::tokens) {
    using Rows = detail::VectorsOf<Input, true>;
    static_assert(detail::Same<const typename Rows::Number, const int8_t>::value && Rows::size == channels,
                  "attend: the state of a convolution in integers takes arrays of its channels: int8_t[tokens][channels]");
    if (count < 0 || count > Rows::tokens) return Status::bad_count;
    core::IntegerConvolution call{};
    call.input = detail::first_number(input), call.state = this->data_;
    call.channels = channels, call.width = width, call.tokens = count;
    core::run_convolution(call, 0, 1);
    this->tokens_ += uint64_t(count);
    return Status::ok;
  }
};

// The scales of a convolution, made once, best as a constant: of the input, of the weights, which may have one for each
// channel, and of the output; there are no zero points. What silu takes has 8 bits, too, and the scale `sums`, at most 1/8 and
// at most 16 times the output's. Input scale * weight scale / scale of the sums is 2^-32 … 1/4.
template <int channels = 1, ConvActivation activation = ConvActivation::identity>
class ConvQuantisation {
  static constexpr bool is_silu = activation == ConvActivation::silu;

 public:
  // weight_scales: one number, or double[channels].
  template <class Weights>
  constexpr ConvQuantisation(double input_scale, const Weights& weight_scales, double output_scale, double sums = 0)
      : scales_{}, table_{}, status_(Status::ok) {
    constexpr bool is_scale = detail::Same<Weights, double>::value && channels == 1;
    static_assert(is_scale || detail::Same<Weights, double[size_t(channels)]>::value,
                  "attend: a ConvQuantisation takes the scale of weights second, or a double[channels] of them");
    if (!is_silu) sums = output_scale;
    for (int i = 0; i < channels; ++i) {
      const double weight = scale_of(weight_scales, i);
      const bool ordinary = input_scale > 0 && weight > 0 && sums > 0;
      const double number = ordinary ? core::quotient(core::product(input_scale, weight), sums) : 0;
      if (!core::is_conv_scale(number)) status_ = Status::bad_quantisation;
      if (status_ == Status::ok) scales_[i] = core::conv_scale(number);
    }
    if constexpr (is_silu) make_table(sums, output_scale > 0 ? core::quotient(sums, output_scale) : 0);
    if (status_ != Status::ok) status_ = detail::refused(status_);
  }

  // ok, or bad_quantisation, with which a constant does not compile.
  constexpr Status status() const { return status_; }
  constexpr void set(core::IntegerConvolution& call) const {
    call.scales = scales_, call.scale_stride = channels > 1, call.table = is_silu ? table_ : nullptr;
  }

 private:
  static constexpr double scale_of(double scale, int) { return scale; }
  static constexpr double scale_of(const double* scales, int i) { return scales[i]; }
  // silu(z * sums) / output, off by half a step and 0.001 steps.
  constexpr void make_table(double sums, double ratio) {
    static_assert((int64_t(128) * 16 << 20) * detail::table_one <= int64_t(1) << 62, "a product with the ratio fits");
    if (!detail::TableInput::is_valid(sums, 0) || !(ratio > 0 && ratio <= 16)) status_ = Status::bad_quantisation;
    for (int z = -128; z < 128 && status_ == Status::ok; ++z) {
      const int64_t y = z * detail::fixed_point(ratio, 20) * detail::TableInput(sums, 0, z).sigmoid(31);
      const int64_t number = (y + (int64_t(1) << 50)) >> 51;
      table_[z + 128] = int8_t(number < -128 ? -128 : number > 127 ? 127 : number);
    }
  }

  core::ConvScale scales_[size_t(channels)];
  int8_t table_[is_silu ? 256 : 1];
  Status status_;
};

// As causal_conv in floats.
template <class Input, class Weights, class Bias, class State, class Output, int scales, ConvActivation activation,
          class... More>
Status causal_conv(const Input& input, const Weights& weights, const Bias& bias, State& state, Output& output,
                   const ConvQuantisation<scales, activation>& quantisation, const More&... more) {
  using namespace detail;
  using Rows = VectorsOf<Input, true>;
  using To = VectorsOf<Output, true>;
  using Filter = VectorsOf<Weights, true>;
  constexpr bool no_bias = Same<Bias, None>::value, is_empty = Same<const State, const EmptyState>::value;
  constexpr bool are_rows = Same<const typename Rows::Number, const int8_t>::value &&
                            Same<typename To::Number, int8_t>::value && Rows::tokens == To::tokens && Rows::size == To::size;
  constexpr bool are_weights = Same<const typename Filter::Number, const int8_t>::value && Filter::tokens == Rows::size;
  constexpr bool is_bias = no_bias || Same<const Bias, const int32_t[size_t(Rows::size)]>::value;
  constexpr bool is_state = is_empty || Same<const State, const ConvState<Rows::size, Filter::size, integer>>::value;
  static_assert(are_rows,
                "attend: causal_conv in integers takes an array of int8_t first, int8_t[tokens][channels], and writes one");
  static_assert(are_weights || !are_rows, "attend: causal_conv in integers takes int8_t[channels][width] as weights");
  static_assert(is_bias || !are_rows, "attend: causal_conv in integers takes a bias, int32_t[channels], or attend::none");
  static_assert(is_state || !are_rows || !are_weights,
                "attend: causal_conv in integers takes an attend::ConvState<channels, width, attend::integer>, or empty_state");
  static_assert(scales == 1 || scales == Rows::size,
                "attend: a ConvQuantisation has 1 scale of weights, or one for each channel");
  static_assert(are_linear_arguments<0, More...>(),
                "attend: at its end causal_conv takes at most one attend::LinearOptions and one attend::Part");
  if constexpr (are_rows && are_weights && is_bias && is_state && are_linear_arguments<0, More...>()) {
    core::IntegerConvolution call{};
    call.input = first_number(input), call.weights = first_number(weights), call.output = first_number(output);
    if constexpr (!no_bias) call.bias = bias;
    call.channels = Rows::size, call.width = Filter::size, call.tokens = Rows::tokens;
    quantisation.set(call);
    return convolve(
        call, state, quantisation.status(),
        [](const core::IntegerConvolution& of, int part, int parts) { core::run_convolution(of, part, parts); }, more...);
  }
  return Status::ok;
}

}  // namespace attend
