// Linear projections, y = W x + b: before attention, after it, and between.
//
//   const attend::Weights<64, 48> weights = {{…}};               // in flash, or attend::PackedWeights, which are faster
//   attend::project(x, weights, bias, y);                        // x: Vectors<tokens, 48>, y: Vectors<tokens, 64>
//   attend::project(x, attend::into(wq, query), attend::into(wk, key), attend::into(wv, value));
//
// x and y are Vectors, float[tokens][size], float[size] for one token, or the arrays of attention (Query, Key, Value, Output),
// whose heads lie side by side: a projection to heads * head_dim outputs writes a Query as it is. A call that finds an
// argument out of range returns a status and changes nothing. Programs hold the code of projections only if they use them, and
// only for the formats of weights that they use.
#pragma once

#include "../detail/calls.h"
#include "../detail/float_arrays.h"
#include "weights.h"
#include "integer_linear.h"

namespace attend {

// Workspace<Projections> is the work memory of a projection, whatever its sizes: for several tokens. Without it the call takes
// longer and has the same bits. It has 272 KB on hosts and 1 KB on embedded processors.
struct Projections;

namespace detail {

template <>
struct WorkPlan<Projections, 1, over_cache, true> {
  static constexpr size_t floats = core::linear_work_floats;
};

// The extents, format and layout of weights; outputs is 0 for every other type.
template <int output_count, int input_count, class Format, bool packed>
struct WeightExtents {
  static constexpr int outputs = output_count, inputs = input_count;
  static constexpr core::Format format = FormatOf<Format>::format;
  static constexpr bool panels = packed, scaled = Same<Format, int8>::value;
};
template <int outputs, int inputs, class Format>
constexpr WeightExtents<outputs, inputs, Format, false> weight_extents(const Weights<outputs, inputs, Format>*) {
  return {};
}
template <int outputs, int inputs, class Format>
constexpr WeightExtents<outputs, inputs, Format, true> weight_extents(const PackedWeights<outputs, inputs, Format>*) {
  return {};
}
template <int outputs, int inputs>
constexpr WeightExtents<0, 0, float, false> weight_extents(const Weights<outputs, inputs, integer>*) {
  return {};
}
constexpr WeightExtents<0, 0, float, false> weight_extents(const void*) { return {}; }
template <class Array>
using WeightsOf = decltype(weight_extents(null_of<Array>()));

// Weights, a bias or null, and where the output goes.
template <class WeightArray, class OutputArray>
struct Projection {
  const WeightArray& weights;
  const float* bias;
  OutputArray& output;
};
template <class Type>
constexpr bool is_projection(const Type*) {
  return false;
}
template <class WeightArray, class OutputArray>
constexpr bool is_projection(const Projection<WeightArray, OutputArray>*) {
  return true;
}

template <class WeightArray, class OutputArray>
constexpr Projection<WeightArray, OutputArray> projection_of(const WeightArray& weights, const float* bias,
                                                             OutputArray& output) {
  using Is = WeightsOf<WeightArray>;
  static_assert(Is::outputs > 0, "attend: a projection takes attend::Weights or attend::PackedWeights");
  static_assert(VectorsOf<OutputArray>::tokens > 0 && !Same<OutputArray, const OutputArray>::value,
                "attend: a projection writes attend::Vectors, a Query, Key, Value or Output");
  static_assert(Is::outputs == 0 || VectorsOf<OutputArray>::tokens == 0 || Is::outputs == VectorsOf<OutputArray>::size,
                "attend: the output of a projection has as many numbers for each token as the weights have outputs: of heads, "
                "heads * width");
  return {weights, bias, output};
}

}  // namespace detail

// One of several projections of the same input, for project(): weights, a bias if there is one, and the output.
//   bias: float[outputs]
template <class WeightArray, class OutputArray>
constexpr auto into(const WeightArray& weights, OutputArray& output) {
  return detail::projection_of(weights, nullptr, output);
}
template <class WeightArray, size_t count, class OutputArray>
constexpr auto into(const WeightArray& weights, const float (&bias)[count], OutputArray& output) {
  static_assert(count == size_t(detail::WeightsOf<WeightArray>::outputs),
                "attend: the bias of a projection is a float[] with as many numbers as the weights have outputs");
  return detail::projection_of(weights, bias, output);
}

namespace detail {

template <class Is, int tokens>
void run_linear_part_of(const core::Linear& linear, const Whole&) {
  core::run_known_linear<Is::format, Is::panels, tokens == 1>(linear);
}
template <class Is, int tokens>
void run_linear_part_of(const core::Linear& linear, const Part& part) {
  core::run_linear_part<Is::format>(linear, part.index, part.count);
}

constexpr float* work_of(const Whole&) { return nullptr; }
template <size_t count>
constexpr float* work_of(WorkFloats<count>& work) {
  static_assert(count >= core::linear_work_floats, "attend: project takes an attend::Workspace<attend::Projections>");
  return work.data;
}

// A projection of tokens that lie side by side.
template <class WeightArray>
core::Linear linear_of(const WeightArray& weights, const float* bias, const float* input, int tokens, float* output,
                       float* work) {
  using Is = WeightsOf<WeightArray>;
  const float* scales = nullptr;
  if constexpr (Is::scaled) scales = weights.scales;
  return {input,      output,     weights.data, scales, bias,       Is::inputs, Is::outputs,
          Is::inputs, Is::inputs, Is::outputs,  tokens, Is::panels, work};
}

template <class Input, class WeightArray, class OutputArray, class AnyPart>
void run_projection(const Input& input, const Projection<WeightArray, OutputArray>& to, int count, float* work,
                    const AnyPart& part) {
  using Is = WeightsOf<WeightArray>;
  using InputVectors = VectorsOf<Input>;
  static_assert(InputVectors::tokens == 0 || InputVectors::size == Is::inputs,
                "attend: project takes an input with as many numbers for each token as the weights have inputs");
  constexpr bool is_written = VectorsOf<OutputArray>::tokens > 0 && InputVectors::tokens > 0;  // else an assertion has failed
  static_assert(!is_written || InputVectors::tokens == VectorsOf<OutputArray>::tokens,
                "attend: the input and the output of project have the same number of tokens");
  if constexpr (is_written) {
    run_linear_part_of<Is, InputVectors::tokens>(
        linear_of(to.weights, to.bias, first_number(input), count, first_number(to.output), work), part);
  }
}

constexpr bool is_count(const void*) { return false; }
constexpr bool is_count(const int*) { return true; }

// The projections come first, then what may follow them.
template <class... More>
constexpr bool are_in_order() {
  const int places[] = {0, is_projection(null_of<More>())           ? 1
                           : kind_of(null_of<More>()) == Kind::work ? 2
                           : is_count(null_of<More>())              ? 3
                           : kind_of(null_of<More>()) == Kind::part ? 4
                                                                    : 0 ...};
  for (size_t i = 1; i <= sizeof...(More); ++i) {
    if (places[i] < places[i - 1] || places[i] == 0 || (places[i] > 1 && places[i] == places[i - 1])) return false;
  }
  return true;
}

// Whether the outputs of several projections share memory.
template <class... None>
constexpr bool outputs_overlap(const None&...) {
  return false;
}
template <class First, class Second, class... Others>
bool outputs_overlap(const First& first, const Second& second, const Others&... others) {
  if constexpr (is_projection(null_of<First>())) {
    const auto meets_first = [&first](const auto& to) {
      if constexpr (is_projection(null_of<decltype(to)>())) return overlap(first.output, to.output);
      return false;
    };
    if (meets_first(second) || (meets_first(others) || ...)) return true;
  }
  return outputs_overlap(second, others...);
}

template <class Input, class... More>
Status project_all(const Input& input, More&&... more) {
  static_assert(VectorsOf<Input>::tokens > 0, "attend: project takes attend::Vectors, a Query, Key, Value or Output first");
  static_assert(are_in_order<More...>(),
                "attend: after its input project takes weights, a bias if there is one, and an output, or several of "
                "attend::into(weights, bias, output); then an attend::Workspace<attend::Projections>, an int, the number of "
                "tokens, and an attend::Part, which may be left out");
  const auto& part = pick<Kind::part>(whole, more...);
  auto& memory = pick<Kind::work>(whole, more...);
  float* const work = work_of(memory);
  int count = VectorsOf<Input>::tokens;
  const auto take = [&count](const auto& argument) {
    if constexpr (is_count(null_of<decltype(argument)>())) count = argument;
  };
  (take(more), ...);
  if (count < 0 || count > VectorsOf<Input>::tokens) return Status::bad_count;
  if (!is_possible(part)) return Status::bad_part;
  const auto overlaps = [&input](const auto& to) {
    if constexpr (is_projection(null_of<decltype(to)>())) return overlap(input, to.output);
    return false;
  };
  if ((overlaps(more) || ...) || outputs_overlap(more...)) return Status::bad_output;
  const auto run = [&](const auto& to) {
    if constexpr (is_projection(null_of<decltype(to)>())) run_projection(input, to, count, work, part);
  };
  const InUse use(memory);
  if (count > 0) (run(more), ...);
  return Status::ok;
}

template <class Input, class WeightArray, size_t count, class OutputArray, class... More>
Status project_biased(const Input& input, const WeightArray& weights, const float (&bias)[count], OutputArray& output,
                      More&&... more) {
  return project_all(input, into(weights, bias, output), more...);
}

// Whether arguments begin with an output.
template <class... None>
constexpr bool begin_with_output(const None*...) {
  return false;
}
template <class First, class... Others>
constexpr bool begin_with_output(const First*, const Others*...) {
  return VectorsOf<First>::tokens > 0;
}

// A single projection: without a bias, or with one, which an output follows.
template <class Input, class WeightArray, class Second, class... More>
Status project_one(const Input& input, const WeightArray& weights, Second& second, More&&... more) {
  if constexpr (begin_with_output(null_of<More>()...)) {
    static_assert(ArrayOf<Second>::dimensions == 1, "attend: the bias of a projection is a float[outputs]");
    return project_biased(input, weights, second, more...);
  } else {
    constexpr bool is_bias = ArrayOf<Second>::dimensions == 1 && Same<Second, const Second>::value;
    static_assert(!is_bias, "attend: project takes an output after the bias");
    if constexpr (!is_bias) return project_all(input, into(weights, second), more...);
    return Status::ok;
  }
}

}  // namespace detail

// Projects each token of x. Any number of projections of the same input go in one call.
// clang-format off
//   x        Vectors<tokens, inputs>, or a Query, Key, Value or Output
//   weights  Weights or PackedWeights<outputs, inputs>
//   bias     float[outputs], or none
//   y        Vectors<tokens, outputs>, or a Query, Key, Value or Output
//            or, in place of weights, bias and y, any number of into(weights, bias, y)
//   work     a Workspace<Projections>, or none
//   tokens   int, the tokens of x to project, from the first; or none: all. Later rows of y stay as they are
//   part     a Part, or none
// clang-format on
// In integers it takes x, weights, scales, y and tokens (integer_linear.h). Refused, before anything is written: tokens, scales
// or a bias out of range, and a y that shares memory with x:
// clang-format off
//   x        Vectors<tokens, inputs, int8_t>, or an Output of an integer shape
//   weights  Weights<outputs, inputs, attend::integer>
//   scales   ProjectionScales<>, or ProjectionScales<outputs>
//   y        Vectors<tokens, outputs, int8_t or int16_t>, a Query, Key or Value of an integer shape
// clang-format on
template <class Input, class First, class... More>
Status project(const Input& x, First&& first, More&&... more) {
  using namespace detail;
  if constexpr (Same<typename IntegersOf<Input>::Number, int8_t>::value && IntegersOf<Input>::tokens > 0) {
    return project_integers(x, first, more...);
  } else if constexpr (WeightsOf<First>::outputs > 0) {
    static_assert(sizeof...(More) > 0, "attend: project takes an output after the weights");
    return project_one(x, first, more...);
  } else {
    return project_all(x, first, more...);
  }
}

}  // namespace attend
