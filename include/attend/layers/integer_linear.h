// Linear projections in integers, y = W x + b: before and after attention of an integer shape, without one float instruction.
//
//   static constexpr attend::Weights<64, 48, attend::integer> weights = {{…}, {…}};     // in flash: numbers, then the bias
//   constexpr attend::ProjectionScales<> scales({0.02, -3}, 0.005, {0.04, 10});         // of x, of the weights, of y
//   attend::project(x, weights, scales, y);              // x: Vectors<tokens, 48, int8_t>, y: Vectors<tokens, 64, int8_t>
//   attend::project(x, weights, scales, y, 2);           // the first 2 tokens; later rows of y stay as they are
//
// On hosts attend::PackedWeights<64, 48, attend::integer>, which attend::pack makes of them, are faster.
//
// Heads lie side by side, so that a projection to heads * head_dim outputs writes a Query of an integer shape as it is, and one
// of an Output reads it. Sums are exact; each output is rounded once. Programs without them hold none of their code.
//
// Residual additions, which may be rectified, and copies in other steps:
//
//   constexpr attend::SumScales sum({0.04, 10}, {0.02, -3}, {0.05, 4});          // of a, of b, of their sum
//   attend::add(a, b, sum, a);                           // Vectors of int8_t or int16_t; the sum may be one of them
//   attend::add(a, b, sum.relu(), a);                    // max(a + b, 0)
//   constexpr attend::SumScales other({0.05, 4}, 0.1);   // of a, of b
//   attend::requantise(a, other, b);
#pragma once

#include "../integer.h"
#include "../detail/float_arrays.h"
#include "weights.h"

namespace attend {

// The weights of such a projection: data[output][input], whose zero point is 0, and for each output a bias that is added to its
// sum, in steps of input scale * weight scale. It is at most core::most_integer_bias(inputs) = 2^31 - 1 - 32,640 * inputs in
// size, so that no sum leaves 32 bits. TFLite's fully connected layer has the same weights and bias.
template <int outputs, int inputs>
struct Weights<outputs, inputs, integer> {
  static_assert(outputs >= 1 && inputs >= 1 && inputs <= core::integer_linear_inputs,
                "attend: Weights of attend::integer have at least 1 output, and 1 to 65536 inputs");
  int8_t data[size_t(outputs)][size_t(inputs)];
  int32_t bias[size_t(outputs)];

  constexpr auto& operator[](int output) { return data[output]; }
  constexpr const auto& operator[](int output) const { return data[output]; }
};

// The same as the fastest loops read them, made by pack(): on hosts chunks of 32 outputs with the sums of their weights
// (core_linear.h), on embedded processors, whose loops read rows, the same rows.
template <int outputs, int inputs>
struct alignas(config::alignment) PackedWeights<outputs, inputs, integer> {
  static_assert(outputs >= 1 && inputs >= 1 && inputs <= core::integer_linear_inputs,
                "attend: PackedWeights of attend::integer have at least 1 output, and 1 to 65536 inputs");
  int8_t data[core::packed_integer_weight_bytes(outputs, inputs)];
  int32_t bias[size_t(outputs)];  // as in the weights
};

// packed: the same weights and bias.
template <int outputs, int inputs>
constexpr void pack(const Weights<outputs, inputs, integer>& weights, PackedWeights<outputs, inputs, integer>& packed) {
  core::pack_integer_weights(weights.data, outputs, inputs, packed.data);
  for (int o = 0; o < outputs; ++o) packed.bias[o] = weights.bias[o];
}

// The scales of a projection: of the input, of the output, and of the weights, which may have another scale for each output.
// Made once, best as a constant. Scales are finite and above 0, and input scale * weight scale / output scale is within 2^-32 …
// 2^29, without 2^29 itself; project refuses others with bad_quantisation.
template <int outputs = 1>
class ProjectionScales {
 public:
  constexpr ProjectionScales(TensorScale input, double weights, TensorScale output) : ProjectionScales(input, output) {
    static_assert(outputs == 1, "attend: ProjectionScales of several outputs take a double[outputs] second");
    set(0, input.scale, weights, output.scale);
  }
  constexpr ProjectionScales(TensorScale input, const double (&weights)[size_t(outputs)], TensorScale output)
      : ProjectionScales(input, output) {
    for (int o = 0; o < outputs; ++o) set(o, input.scale, weights[o], output.scale);
  }

  // ok, bad_quantisation or bad_zero_point, with which a constant does not compile.
  constexpr Status status() const { return status_; }

  // What sums are multiplied by, and the zero points: as the calls read them.
  constexpr const core::IntegerMultiplier* multipliers() const { return multipliers_; }
  constexpr int input_zero() const { return input_zero_; }
  constexpr int output_zero() const { return output_zero_; }

 private:
  constexpr ProjectionScales(TensorScale input, TensorScale output)
      : multipliers_{},
        input_zero_(input.zero_point),
        output_zero_(output.zero_point),
        status_(detail::is_zero_point(input.zero_point) && detail::is_zero_point(output.zero_point)
                    ? Status::ok
                    : detail::refused(Status::bad_zero_point)) {}

  constexpr void set(int output, double input_scale, double weight_scale, double output_scale) {
    const bool ordinary = input_scale > 0 && weight_scale > 0 && output_scale > 0;
    const double factor = ordinary ? core::quotient(core::product(input_scale, weight_scale), output_scale) : 0;
    if (core::is_integer_multiplier(factor)) {
      multipliers_[output] = core::integer_multiplier(factor);
    } else if (status_ == Status::ok) {
      status_ = detail::refused(Status::bad_quantisation);
    }
  }

  core::IntegerMultiplier multipliers_[size_t(outputs)];
  int input_zero_, output_zero_;
  Status status_;
};

namespace detail {

template <class Type>
struct IntegerWeightsOf {
  static constexpr int outputs = 0, inputs = 0;
};
template <int output_count, int input_count>
struct IntegerWeightsOf<Weights<output_count, input_count, integer>> {
  static constexpr int outputs = output_count, inputs = input_count;
  static constexpr bool packed = false;
};
template <int output_count, int input_count>
struct IntegerWeightsOf<PackedWeights<output_count, input_count, integer>> {
  static constexpr int outputs = output_count, inputs = input_count;
  static constexpr bool packed = true;
};

template <int outputs>
constexpr int scale_count(const ProjectionScales<outputs>*) {
  return outputs;
}
constexpr int scale_count(const void*) { return 0; }

template <class WeightArray, class Scales, class Input, class OutputArray>
Status project_integers(const Input& x, const WeightArray& weights, const Scales& scales, OutputArray& y,
                        int tokens = IntegersOf<Input>::tokens) {
  using From = IntegersOf<Input>;
  using To = IntegersOf<OutputArray>;
  using Is = IntegerWeightsOf<WeightArray>;
  constexpr int count = scale_count(null_of<Scales>());
  constexpr bool written = Same<typename To::Number, int8_t>::value || Same<typename To::Number, int16_t>::value;
  static_assert(Is::outputs > 0, "attend: project of integers takes attend::Weights<outputs, inputs, attend::integer> second");
  static_assert(
      Is::outputs == 0 || count == 1 || count == Is::outputs,
      "attend: project of integers takes attend::ProjectionScales third, of 1 or of as many outputs as the weights have");
  static_assert(
      written && !Same<OutputArray, const OutputArray>::value,
      "attend: project of integers writes attend::Vectors of int8_t or int16_t, a Query, Key or Value of an integer shape");
  static_assert(Is::outputs == 0 || From::size == Is::inputs,
                "attend: project takes an input with as many numbers for each token as the weights have inputs");
  static_assert(
      Is::outputs == 0 || !written || (To::size == Is::outputs && To::tokens == From::tokens),
      "attend: the output of project has as many tokens as the input, and as many numbers for each as the weights have "
      "outputs: of heads, heads * width");
  if constexpr (Is::outputs > 0 && count > 0 && written) {
    if (scales.status() != Status::ok) return scales.status();
    constexpr int32_t most = core::most_integer_bias(Is::inputs);
    for (const int32_t bias : weights.bias) {
      if (bias < -most - 1 || bias > most) return Status::bad_quantisation;
    }
    if (tokens < 0 || tokens > From::tokens) return Status::bad_count;
    if (overlap(x, y)) return Status::bad_output;
    const core::IntegerLinear linear = {first_number(x),     first_number(y),      first_number(weights.data),
                                        weights.bias,        scales.multipliers(), count == 1 ? 0 : 1,
                                        Is::inputs,          Is::outputs,          Is::inputs,
                                        Is::inputs,          Is::outputs,          tokens,
                                        scales.input_zero(), scales.output_zero()};
    if constexpr (Is::packed) {
      core::run_packed_integer_linear<sizeof(typename To::Number)>(linear);
    } else {
      core::run_integer_linear<sizeof(typename To::Number)>(linear);
    }
  }
  return Status::ok;
}

template <class Input, class... More>
Status project_integers(const Input&, const More&...) {
  static_assert(
      sizeof...(More) == 3,
      "attend: project of integers takes attend::Weights<outputs, inputs, attend::integer>, attend::ProjectionScales and an "
      "output after its input; then an int, the number of tokens, which may be left out");
  return Status::ok;
}

}  // namespace detail

// The scales of a sum of two arrays, or of a copy of one. Made once, best as a constant. Of input scale / output scale the
// larger one is within 2^-10 … 2^13, without 2^13, and the other within 2^-32 … 2^13; others are bad_quantisation.
template <int inputs>
class SumScales {
 public:
  constexpr SumScales(TensorScale x, TensorScale y) : SumScales(x, TensorScale(0), y, 0) {
    static_assert(inputs == 1, "attend: SumScales of add take the scales of a, of b and of their sum");
  }
  constexpr SumScales(TensorScale a, TensorScale b, TensorScale y) : SumScales(a, b, y, 0) {
    static_assert(inputs == 2, "attend: SumScales of requantise take the scales of x and of y");
  }

  // The same for max(y, 0).
  constexpr SumScales relu() const {
    SumScales rectified = *this;
    rectified.lowest_ = zero_;
    return rectified;
  }

  // ok, bad_quantisation or bad_zero_point, with which a constant does not compile.
  constexpr Status status() const { return status_; }
  constexpr core::IntegerSum sum(const void* a, const void* b, void* y, int count, int lowest) const {
    return {a, b, y, count, by_, a_zero_, b_zero_, zero_, lowest_ > lowest ? lowest_ : lowest};
  }

 private:
  constexpr SumScales(TensorScale a, TensorScale b, TensorScale y, int)
      : by_{}, a_zero_(a.zero_point), b_zero_(b.zero_point), zero_(y.zero_point), status_(Status::bad_quantisation) {
    using namespace detail;
    const double by_a = ratio(a.scale, y.scale), by_b = inputs == 2 ? ratio(b.scale, y.scale) : 1;
    if (!is_zero_point(a_zero_) || !is_zero_point(b_zero_) || !is_zero_point(zero_)) status_ = Status::bad_zero_point;
    if (!core::is_integer_multiplier(by_a) || !core::is_integer_multiplier(by_b)) {
      status_ = refused(status_);
      return;
    }
    constexpr core::IntegerMultiplier zero_by = {0, 62};
    by_ = core::integer_sum_factors(core::integer_multiplier(by_a), inputs == 2 ? core::integer_multiplier(by_b) : zero_by);
    status_ = core::is_integer_sum(by_) && status_ == Status::bad_quantisation ? Status::ok : refused(status_);
  }
  static constexpr double ratio(double input_scale, double output_scale) {
    return input_scale > 0 && output_scale > 0 ? core::quotient(input_scale, output_scale) : 0;
  }

  core::IntegerSumFactors by_;
  int a_zero_, b_zero_, zero_, lowest_ = -32768;
  Status status_;
};
SumScales(TensorScale, TensorScale)->SumScales<1>;
SumScales(TensorScale, TensorScale, TensorScale)->SumScales<2>;

namespace detail {

template <class Array>
constexpr bool are_integers = IntegersOf<Array>::tokens > 0 && (Same<typename IntegersOf<Array>::Number, int8_t>::value ||
                                                                Same<typename IntegersOf<Array>::Number, int16_t>::value);

template <int inputs, class A, class B, class Y>
Status add_integers(const A& a, const B& b, const SumScales<inputs>& scales, Y& y) {
  static_assert(
      are_integers<A> && are_integers<B> && are_integers<Y> && !Same<Y, const Y>::value,
      "attend: add and requantise of integers take attend::Vectors of int8_t or int16_t, or arrays of an integer shape");
  constexpr bool as_many = IntegersOf<A>::tokens == IntegersOf<B>::tokens && IntegersOf<A>::size == IntegersOf<B>::size &&
                           IntegersOf<A>::tokens == IntegersOf<Y>::tokens && IntegersOf<A>::size == IntegersOf<Y>::size;
  static_assert(as_many, "attend: the arrays of add and requantise have the same tokens, and as many numbers for each");
  if constexpr (are_integers<A> && are_integers<B> && are_integers<Y> && as_many) {
    using Number = typename IntegersOf<Y>::Number;
    if (scales.status() != Status::ok) return scales.status();
    if (overlaps_partly(a, y) || overlaps_partly(b, y)) return Status::bad_output;
    constexpr int lowest = sizeof(Number) == 1 ? -128 : -32768;
    core::run_integer_sum<typename IntegersOf<A>::Number, typename IntegersOf<B>::Number, Number>(
        scales.sum(first_number(a), first_number(b), first_number(y), IntegersOf<Y>::tokens * IntegersOf<Y>::size, lowest));
  }
  return Status::ok;
}

}  // namespace detail

// y = a + b, number by number, each rounded once to the nearest, ties up, and clamped. y may be a or b.
template <class A, class B, class Y>
Status add(const A& a, const B& b, const SumScales<2>& scales, Y& y) {
  return detail::add_integers(a, b, scales, y);
}

// Catches a sum without its scales.
template <class A, class B, int tokens, int size, class Number>
Status add(const A&, const B&, Vectors<tokens, size, Number>&) {
  static_assert(sizeof(A) == 0,
                "attend: add of integers takes a, b, attend::SumScales and their sum; of floats from, to and a factor");
  return Status::ok;
}

// y = x in other steps, rounded and clamped as in add. y may be x.
template <class X, class Y>
Status requantise(const X& x, const SumScales<1>& scales, Y& y) {
  return detail::add_integers(x, x, scales, y);
}

}  // namespace attend
