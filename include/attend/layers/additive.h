// Additive attention, the older kind (Bahdanau, Cho and Bengio, 2014), for recurrent models on boards:
//
//   score[t][j] = v . tanh(queries[t] + keys[j]),   context[t] = sum over j of softmax(score[t])[j] * values[j]
//
//   attend::project(encoded, wk, bias, keys);                       // once for each sequence: W_k h_j + b
//   attend::project(state, wq, query);                              // W_q s
//   attend::additive_attention(query, keys, v, encoded, context, work);
//
// The dot product with v is a projection to one output, and what follows is attention whose scores are given: softmax, masks
// and sums have its order and its bits, and masked means absent here too.
#pragma once

#include "../attention.h"
#include "../detail/several_calls.h"
#include "core_layer.h"
#include "linear.h"
#include "row_functions.h"

namespace attend {

// The shape of additive_attention, for Workspace and ScoreOptions: one head, queries and keys of `hidden`, values of `width`.
template <int hidden, int width>
struct AdditiveShape {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 1, value_dim = width;  // of a shape, see shape.h
};

namespace detail {

template <int hidden, int width, int tokens, int keys>
struct WorkPlan<AdditiveShape<hidden, width>, tokens, keys, false> {
  using Attention = OptionPlan<AdditiveShape<hidden, width>, tokens, keys>;
  static constexpr size_t scores = Attention::floats;
  static constexpr size_t sums = scores + size_t(tokens) * size_t(keys);
  static constexpr size_t floats = sums + size_t(core::additive_keys) * size_t(hidden);
};

}  // namespace detail

// Every key is visible by default. scale, bias, a soft cap and the score stages raw and capped are refused with no_effect: the
// call has its own scores, which lse, `biased` scores and weights show.
//   queries  Vectors<tokens, hidden>, projected     keys    Vectors<keys, hidden>, projected, with the sum's bias
//   v        float[hidden]                          values  Vectors<keys, width>
//   context  Vectors<tokens, width>                 work    Workspace<AdditiveShape<hidden, width>, tokens, keys>
//   options  Options or ScoreOptions<AdditiveShape<hidden, width>>, or none
template <class Queries, class Keys, size_t hidden, class Values, class Context, class Work, class... More>
Status additive_attention(const Queries& queries, const Keys& keys, const float (&v)[hidden], const Values& values,
                          Context& context, Work& work, const More&... more) {
  using namespace detail;
  constexpr int tokens = VectorsOf<Queries>::tokens, key_count = VectorsOf<Keys>::tokens, width = VectorsOf<Values>::size;
  static_assert(
      tokens > 0 && key_count > 0 && width > 0 && VectorsOf<Context>::tokens > 0,
      "attend: additive_attention takes attend::Vectors: queries, keys, values and context, v between keys and values");
  static_assert(VectorsOf<Queries>::size == int(hidden) && VectorsOf<Keys>::size == int(hidden),
                "attend: queries and keys of additive_attention have as many numbers for each token as v has");
  static_assert(VectorsOf<Values>::tokens == key_count, "attend: additive_attention takes as many values as keys");
  static_assert(VectorsOf<Context>::tokens == tokens && VectorsOf<Context>::size == width,
                "attend: the context of additive_attention has the tokens of the queries and the width of the values");
  using Shape = AdditiveShape<int(hidden), width>;
  using Memory = WorkPlan<Shape, tokens, key_count>;
  static_assert(is_enough<Work, Memory>(),
                "attend: additive_attention needs an attend::Workspace<attend::AdditiveShape<hidden, width>, tokens, keys>");
  using Rest = CallArguments<Shape, More...>;
  static_assert(Rest::only_options && !Rest::ranged,
                "attend: after its work memory additive_attention takes options, but no attend::RangedOptions, or nothing");
  const InUse use(work);
  constexpr float zero = 0.0f;
  ScoreOptions<Shape> options(pick<Kind::options>(no_options, more...));
  const auto stage = options.score_stage;
  const bool raw_scores = stage.given && (stage.number == ScoreStage::raw || stage.number == ScoreStage::capped);
  if (options.scale.given || has_terms(options) || raw_scores) return Status::no_effect;
  options.scale = 1.0f;

  OptionCall call;
  set_shape<Shape>(call.problem, tokens);
  core::Problem& problem = call.problem;
  problem.row_block = Memory::Attention::row_block;
  problem.key_block = Memory::Attention::key_block;
  problem.scratch = work.data;
  problem.query = {&zero, 0, 0};  // the only number of every query and key
  problem.key = {&zero, 0, 0};
  problem.value = {first_number(values), width, width};
  problem.output = {first_number(context), width, width};
  problem.keys = key_count;
  const Status status = prepare(call, options, false);
  if (status != Status::ok) return status;
  float* const scores = work.data + Memory::scores;
  for (int t = 0; t < problem.queries; ++t) {
    core::additive_scores({v, int(hidden), work.data + Memory::sums}, first_number(queries) + ptrdiff_t(t) * int(hidden),
                          {first_number(keys), int(hidden), 0}, problem.keys, scores + ptrdiff_t(t) * key_count);
  }
  call.options.bias = {scores, 0, key_count, 0, key_count};
  core::Floats::run(problem, call.options);
  return Status::ok;
}

}  // namespace attend
