// The options of a problem of the C surface: checks them, and makes core::Options of them.
#include "surface.h"

namespace attend {
namespace c_surface {
namespace {

// The extents of masks, biases and scores; with states the number of their columns is not known.
Extent::Counts matrix_counts(const CallOptions& options) {
  const core::Problem& first = options.call.first;
  return {options.call.batch, first.queries, first.query_heads, options.first.states.data != nullptr ? -1 : first.keys};
}

void check_bias(Check& check, const attend_problem& problem, CallOptions& options) {
  const attend_bias& bias = problem.bias;
  if (bias.data == nullptr) return check.require(is_default_matrix(bias), ATTEND_NO_EFFECT, ATTEND_ARG_BIAS);
  const Extent extent = matrix_extent(check, bias, matrix_counts(options), 0, ATTEND_ARG_BIAS_KEYS);
  options.call.memory.read(check, check.place(bias.data, extent, float_bits, ATTEND_ARG_BIAS).range);
  options.first.bias = core_mask(bias.data, extent);
  options.bias_step = extent.strides.batch;
}

void check_relative_bias(Check& check, const attend_problem& problem, CallOptions& options) {
  const attend_relative_bias& bias = problem.relative_bias;
  if (bias.data == nullptr) {
    const bool set = bias.head_stride != ATTEND_DENSE || bias.left != -1 || bias.right != -1;
    return check.require(!set, ATTEND_NO_EFFECT, ATTEND_ARG_RELATIVE_BIAS);
  }
  check.within(bias.left, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_RELATIVE_BIAS_LEFT);
  check.within(bias.right, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_RELATIVE_BIAS_RIGHT);
  if (check.failed()) return;
  const Extent extent =
      extent_of({1, 1, problem.query_heads, bias.left + 1 + bias.right}, {0, 0, bias.head_stride}, Axes::matrix);
  options.call.memory.read(check, check.place(bias.data, extent, float_bits, ATTEND_ARG_RELATIVE_BIAS).range);
  options.first.relative = bias.data;
  options.first.relative_head_stride = extent.strides.head;
  options.first.relative_left = int(bias.left);
  options.first.relative_right = int(bias.right);
}

// A number for each query head.
const float* check_heads(Check& check, const float* data, CallOptions& options, attend_argument argument) {
  if (data != nullptr) options.call.memory.read(check, check.array(data, options.call.first.query_heads, float_bits, argument));
  return data;
}

void check_scores(Check& check, const attend_problem& problem, CallOptions& options) {
  const attend_scores& scores = problem.scores;
  const bool none = scores.stage == ATTEND_SCORES_NONE;
  if (scores.data == nullptr) {
    check.require(none, ATTEND_MISSING, ATTEND_ARG_SCORES);
    return check.require(is_default_matrix(scores), ATTEND_NO_EFFECT, ATTEND_ARG_SCORES);
  }
  check.require(!none, ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES_STAGE);
  const bool known = scores.stage >= ATTEND_SCORES_NONE && scores.stage <= ATTEND_SCORES_WEIGHTS;
  check.require(known, ATTEND_UNKNOWN, ATTEND_ARG_SCORES_STAGE);
  // What weights are divided by is not known before the last key.
  const bool possible = problem.states == nullptr || scores.stage != ATTEND_SCORES_WEIGHTS;
  check.require(possible, ATTEND_CONFLICT, ATTEND_ARG_SCORES_STAGE);
  const Extent extent = matrix_extent(check, scores, matrix_counts(options), options.call.first.keys, ATTEND_ARG_SCORES_KEYS);
  const Place found = check.place_apart(scores.data, extent, float_bits, ATTEND_ARG_SCORES);
  options.call.memory.write(check, found.range, ATTEND_ARG_SCORES);
  if (check.failed()) return;
  options.score_step = found.batch_step;
  options.first.scores = core_tensor<float>(scores.data, extent);
  options.first.score_keys = int(extent.counts.width);
  options.first.score_stage = core::Scores(scores.stage - 1);
}

void check_lse(Check& check, const attend_problem& problem, CallOptions& options) {
  const attend_output& lse = problem.lse;
  if (lse.data == nullptr) {
    const bool set = lse.batch_stride != ATTEND_DENSE || lse.token_stride != ATTEND_DENSE || lse.head_stride != ATTEND_DENSE;
    return check.require(!set, ATTEND_NO_EFFECT, ATTEND_ARG_LSE);
  }
  const Extent extent = options.call.rows(lse, 1, axes_of(problem));
  const Place found = check.place_apart(lse.data, extent, float_bits, ATTEND_ARG_LSE);
  options.call.memory.write(check, found.range, ATTEND_ARG_LSE);
  options.lse_step = found.batch_step;
  options.first.lse = core_tensor<float>(lse.data, extent);
}

}  // namespace

void check_end(Check& check, const attend_problem& problem, CallOptions& options, bool writes) {
  options.first.sink_logits = check_heads(check, problem.sink_logits, options, ATTEND_ARG_SINK_LOGITS);
  options.first.output_format = core_format(problem.output_format);
  if (writes) check_lse(check, problem, options);
}

void check_options(Check& check, const attend_problem& problem, CallOptions& options) {
  core::Options& first = options.first;
  first.states.data = static_cast<float*>(problem.states);
  first.soft_cap = problem.soft_cap;
  first.query_format = core_format(problem.query_format);
  check.within(problem.first_key, 0, options.call.first.keys, ATTEND_ARG_FIRST_KEY);
  check.require(problem.states != nullptr || problem.first_key == 0, ATTEND_NO_EFFECT, ATTEND_ARG_FIRST_KEY);
  // A call that goes on and takes no key has hardly been told where the keys end now.
  const bool takes = problem.first_key < options.call.first.keys || problem.first_key == 0;
  check.require(takes, ATTEND_MISMATCH, ATTEND_ARG_KEYS);
  first.first_key = check.failed() ? 0 : int(problem.first_key);
  check_windows(check, problem, first);
  options.mask_step = check_mask(check, options.call.memory, problem.mask, matrix_counts(options), first);
  check_bias(check, problem, options);
  check_relative_bias(check, problem, options);
  first.alibi_slopes = check_heads(check, problem.alibi_slopes, options, ATTEND_ARG_ALIBI_SLOPES);
  check_key_options(check, problem, options);
  check_scores(check, problem, options);
  check_end(check, problem, options, problem.states == nullptr);
  if (problem.states == nullptr) return;
  const Range states = check_states(check, problem.states, options.call, ATTEND_ARG_STATES);
  options.call.memory.write(check, states, ATTEND_ARG_STATES);
  if (!check.failed()) set_states(problem.states, options);
}

// Not inlined, as run_options: calls without options need none of its stack.
__attribute__((noinline)) void check_options(Check& check, const attend_problem& problem, Call& call) {
  CallOptions options = {call};
  check_options(check, problem, options);
}

}  // namespace c_surface
}  // namespace attend
