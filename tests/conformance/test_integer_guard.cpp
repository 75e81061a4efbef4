// The core's calls on integers touch nothing beside their arrays, whatever the widths are.
#include <doctest/doctest.h>

#include "../support/core_numbers.h"
#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include "attend/core/integer.h"
#include "attend/layers/core_linear.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

constexpr int query_heads = 2, kv_heads = 1;

core::Problem problem_of(GuardedArrays& arrays, int queries, int keys, int head_dim, int value_dim) {
  core::Problem p{};
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = value_dim;
  p.queries = queries, p.keys = keys, p.offset = keys - queries, p.causal = true;
  p.row_block = 32, p.key_block = 64;
  p.query = {arrays.integers(std::size_t(queries * query_heads * head_dim)), query_heads * head_dim, head_dim};
  p.key = {arrays.integers(std::size_t(keys * kv_heads * head_dim)), kv_heads * head_dim, head_dim};
  p.value = {arrays.integers(std::size_t(keys * kv_heads * value_dim)), kv_heads * value_dim, value_dim};
  core::ScoreScale* const score_scale = arrays.zeros<core::ScoreScale>(1);
  core::OutputScale* const output_scale = arrays.zeros<core::OutputScale>(1);
  *score_scale = core::score_scale(1e-4), *output_scale = core::output_scale(1.5, 3, -4);
  p.score_scales = score_scale, p.output_scales = output_scale;
  return p;
}

template <class Number = std::int8_t>
void use_output(GuardedArrays& arrays, core::Problem& p) {
  p.output = {arrays.output<Number>(std::size_t(p.queries * query_heads * p.value_dim)), query_heads * p.value_dim,
              p.value_dim};
}

void use_scratch(GuardedArrays& arrays, core::Problem& p) {
  p.scratch = arrays.work<char>(
      core::integer_scratch_bytes(p.row_block, p.key_block, p.head_dim, p.value_dim, core::segment_levels(p.keys)));
}

// The keys and values of a problem over rows, in panels of as many tokens and no others, and the problem over them.
core::Problem over_panels(GuardedArrays& arrays, core::Problem p) {
  const int room = core::whole_chunks(p.keys), dim = core::whole_quads(p.head_dim);
  std::int8_t *const keys = arrays.zeros<std::int8_t>(std::size_t(room * dim)), *const values = arrays.zeros<std::int8_t>(
                                                                                    std::size_t(room * p.value_dim));
  core::store({keys, values, kv_heads, p.head_dim, p.value_dim, room}, 0, p.keys, numbers_of<std::int8_t>(p.key),
              numbers_of<std::int8_t>(p.value));
  p.key = core::key_quads(keys, p.head_dim, room), p.value = core::value_quads(values, p.value_dim, room);
  p.key_panels = true;
  return p;
}

}  // namespace

TEST_CASE("guards: attention in integers over rows and panels") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    for (const int queries : {1, 5}) {
      for (const int keys : {64, 83}) {  // whole chunks, and not
        // Of equal widths too: some rows are read in place only where both are multiples of 16.
        for (const int value_dim : {other, width}) {
          core::Problem p = problem_of(arrays, queries, keys, width, value_dim);
          use_output(arrays, p);
          use_scratch(arrays, p);
          core::Integers::run(p);
          core::Integers::run_part(p, 1, 2);
          if (attend::config::embedded) continue;
          p = over_panels(arrays, p);
          use_output(arrays, p);
          core::Integers::run(p);
        }
      }
    }
  });
}

TEST_CASE("guards: attention in integers with masks, scales of tokens, other outputs and states") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    for (const int queries : {1, 5}) {
      constexpr int keys = 70;
      core::Problem p = problem_of(arrays, queries, keys, width, other);
      core::Options o;
      o.mask = {arrays.integers<std::uint8_t>(std::size_t(queries * keys)), 0, keys, 0, keys};
      o.query_zero = 3;
      o.output_format = core::Format::int8;
      o.left = 50;
      use_output(arrays, p);
      use_scratch(arrays, p);
      core::Integers::run(p, o);
      std::uint16_t* const scales = arrays.zeros<std::uint16_t>(keys);
      for (int j = 0; j < keys; ++j) scales[j] = std::uint16_t(32768 - 400 * j);
      o.key_scales = o.value_scales = scales;
      o.key_scale_stride = o.value_scale_stride = keys;
      o.output_format = core::Format::int16;
      use_output<std::int16_t>(arrays, p);
      core::Integers::run(p, o);
      o.output_format = core::Format::float32;
      use_output<float>(arrays, p);
      core::Integers::run(p, o);
      const auto state = std::ptrdiff_t(core::integer_state_numbers(other, 1));
      const std::size_t numbers = std::size_t(queries * query_heads * state);
      o.states = {arrays.output<std::int32_t>(numbers), query_heads * state, state};
      o.begins = true;
      p.scratch = arrays.work<char>(core::integer_scratch_bytes(p.row_block, p.key_block, p.head_dim, p.value_dim, 0));
      core::Integers::run(p, o);
      p.scratch = arrays.work<std::int32_t>(std::size_t(other));
      use_output<float>(arrays, p);
      core::Integers::finish(p, o);
      std::int32_t* const others = arrays.output<std::int32_t>(numbers);
      for (int r = 0; r < queries * query_heads; ++r) others[r * state] = 0;
      core::Integers::merge(others, o.states.data, true, queries * query_heads, other, 1);
    }
  });
}

TEST_CASE("guards: projections in integers") {
  for_each_guarded_width([](GuardedArrays& arrays, int inputs, int outputs) {
    for (const int tokens : {1, 5}) {
      core::IntegerLinear linear{};
      linear.inputs = inputs, linear.outputs = outputs, linear.tokens = tokens, linear.input_zero = 3;
      linear.input_stride = linear.weight_stride = inputs, linear.output_stride = outputs;
      linear.input = arrays.integers(std::size_t(tokens * inputs));
      linear.weights = arrays.integers(std::size_t(inputs * outputs));
      std::int32_t* const bias = arrays.zeros<std::int32_t>(std::size_t(outputs));
      core::IntegerMultiplier* const multipliers = arrays.zeros<core::IntegerMultiplier>(std::size_t(outputs));
      for (int o = 0; o < outputs; ++o) bias[o] = 100 * o, multipliers[o] = core::integer_multiplier(0.01 / (1 + o));
      linear.bias = bias, linear.multipliers = multipliers, linear.multiplier_stride = 1;
      const std::size_t numbers = std::size_t(tokens * outputs);
      linear.output = arrays.output<std::int8_t>(numbers);
      core::run_integer_linear<1>(linear);
      linear.output = arrays.output<std::int16_t>(numbers);
      core::run_integer_linear<2>(linear);
      linear.output = arrays.output<std::int32_t>(numbers);
      core::run_integer_linear<4>(linear);
    }
  });
}

namespace {

template <class A, class B, class Output>
void call_sum(GuardedArrays& arrays, int count) {
  const std::size_t numbers = std::size_t(count);
  core::IntegerSum sum{};
  sum.a = arrays.integers<A>(numbers), sum.b = arrays.integers<B>(numbers), sum.output = arrays.output<Output>(numbers);
  sum.count = count, sum.by = {1 << 20, 1500000, 22}, sum.a_zero = 5, sum.zero = -3, sum.lowest = -100;
  core::run_integer_sum<A, B, Output>(sum);
}

template <class Output>
constexpr void (*sums[])(GuardedArrays&, int) = {
    call_sum<std::int8_t, std::int8_t, Output>, call_sum<std::int8_t, std::int16_t, Output>,
    call_sum<std::int16_t, std::int8_t, Output>, call_sum<std::int16_t, std::int16_t, Output>};

}  // namespace

TEST_CASE("guards: sums in integers") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int /*other*/) {
    for (const auto call : sums<std::int8_t>) call(arrays, width);
    for (const auto call : sums<std::int16_t>) call(arrays, width);
  });
}

#endif
