// The internal interface of layers from C (attend_layers.h).
#pragma once

#include "surface.h"

#include "../../include/attend/c/layers.h"
#include "../../include/attend/core/layer.h"
#include "../../include/attend/core/linear.h"

namespace attend {
namespace c_surface {

// Structs side by side that a call looks at.
template <class Struct>
Range check_structs(Check& check, const Struct* structs, ptrdiff_t count, attend_argument argument) {
  check.require(structs != nullptr, ATTEND_MISSING, argument);
  check.require(aligned(structs, alignof(Struct)), ATTEND_UNALIGNED, argument);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(structs);
  return check.failed() ? Range{} : Range{begin, begin + size_t(count) * sizeof(Struct)};
}

// Vectors side by side, [count][width] numbers.
inline Range check_vectors(Check& check, const void* data, ptrdiff_t count, ptrdiff_t width, attend_argument argument,
                           int bits = float_bits) {
  constexpr ptrdiff_t dense = ATTEND_DENSE;
  return check.place(data, extent_of({1, count, 1, width}, {dense, dense, dense}, Axes::token_head), bits, argument).range;
}

// Numbers that a call may leave out.
inline Range check_if_given(Check& check, const float* data, ptrdiff_t count, attend_argument argument) {
  return data == nullptr ? Range{} : check.array(data, count, float_bits, argument);
}

// A range that is read is the one that is written in its place, number by number or token by token, or lies apart from it.
inline void read_same(Check& check, const Memory& memory, Range read, Range written) {
  if (read.begin != written.begin || read.end != written.end) memory.read_last(check, read);
}

// Requires the fields that problems of one sequence, of floats in arrays or of a layer, leave as they were initialised.
inline void check_one_sequence(Check& check, const attend_problem& problem) {
  const auto left = [&](bool is_unset, attend_argument argument) { check.require(is_unset, ATTEND_CONFLICT, argument); };
  const auto floats = [](int format) { return format == ATTEND_DEFAULT_FORMAT || format == ATTEND_FLOAT32; };
  left(floats(problem.query_format), ATTEND_ARG_QUERY_FORMAT);
  left(floats(problem.key_format), ATTEND_ARG_KEY_FORMAT);
  left(floats(problem.value_format), ATTEND_ARG_VALUE_FORMAT);
  left(floats(problem.output_format), ATTEND_ARG_OUTPUT_FORMAT);
  left(problem.batch == ATTEND_DEFAULT_BATCH || problem.batch == 1, ATTEND_ARG_BATCH);
  left(problem.cache == nullptr, ATTEND_ARG_CACHE);
  left(problem.pages.table == nullptr, ATTEND_ARG_PAGES);
  left(problem.states == nullptr, ATTEND_ARG_STATES);
  left(origin_of(problem) == 0, ATTEND_ARG_ORIGIN);
}

// Numbers that are read one after another as y is written; by may be null.
inline void check_numbers(Check& check, const float* x, const float* by, ptrdiff_t count, const float* y) {
  check.within(count, 0, INT32_MAX, ATTEND_ARG_COUNT);
  const Range to = check_vectors(check, y, 1, count, ATTEND_ARG_Y);
  Memory memory;
  memory.write(check, to, ATTEND_ARG_Y);
  read_same(check, memory, check_vectors(check, x, 1, count, ATTEND_ARG_X), to);
  read_same(check, memory, check_if_given(check, by, count, ATTEND_ARG_BY), to);
}

// Weights, all of which are compared with what is written.
void check_weights(Check& check, const Memory& memory, const attend_weights& weights);
// Projects tokens; work is as in core::Linear.
void project(const attend_weights& weights, const float* from, int tokens, float* to, float* work);

// Calls call.of<format>() with the format of some weights.
template <class Call>
void with_format(int format, const Call& call) {
  switch (format) {
    case ATTEND_FLOAT16:
      return call.template run_with<core::Format::float16>();
    case ATTEND_BFLOAT16:
      return call.template run_with<core::Format::bfloat16>();
    case ATTEND_INT8:
      return call.template run_with<core::Format::int8>();
    default:
      return call.template run_with<core::Format::float32>();
  }
}

inline void check_epsilon(Check& check, float epsilon) {
  check.require(core::is_epsilon(epsilon), ATTEND_OUT_OF_RANGE, ATTEND_ARG_EPSILON);
}

// Checks the result of attend_rotary_init, for heads of so many numbers.
void check_rotary(Check& check, const Memory& memory, const attend_rotary* rotary, ptrdiff_t head_dim);
// For tokens whose first number is that; strides are the caller's.
core::Rotation rotation_of(const attend_rotary& rotary, float* first, int heads, ptrdiff_t head_stride);

}  // namespace c_surface
}  // namespace attend
