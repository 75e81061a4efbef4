// What a problem of the C surface asks for beyond core::Problem: refuses what must not be, and makes core::Options of the rest.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

void check_windows(Check& check, const attend_problem& problem, core::Options& options) {
  check.within(problem.window_left, ATTEND_NO_LIMIT, PTRDIFF_MAX, ATTEND_ARG_WINDOW_LEFT);
  check.within(problem.window_right, ATTEND_NO_LIMIT, PTRDIFF_MAX, ATTEND_ARG_WINDOW_RIGHT);
  check.within(problem.sink_tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_SINK_TOKENS);
  const bool windowed = problem.window_left != ATTEND_NO_LIMIT;
  check.require(windowed || problem.sink_tokens == 0, ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS);
  // No position is so large that a wider window would show more.
  constexpr ptrdiff_t widest = 2 * ptrdiff_t(ATTEND_MAX_TOKENS);
  options.left = int(problem.window_left < widest ? problem.window_left : widest);
  options.right = int(problem.window_right < widest ? problem.window_right : widest);
  options.pinned = int(problem.sink_tokens);
}

// An attend_mask, attend_bias or attend_scores: columns that are not given are the problem's keys, which with states are not
// known.
template <class Matrix>
bool is_default(const Matrix& matrix) {
  return matrix.batch_stride == ATTEND_DENSE && matrix.head_stride == ATTEND_DENSE && matrix.query_stride == ATTEND_DENSE &&
         matrix.keys == ATTEND_ALL_KEYS;
}
template <class Matrix>
Extent matrix_extent(Check& check, const Matrix& matrix, const Call& call, ptrdiff_t least, attend_argument keys) {
  const bool all = matrix.keys == ATTEND_ALL_KEYS;
  check.require(!all || call.options.states.data == nullptr, ATTEND_AMBIGUOUS, keys);
  const ptrdiff_t columns = all ? call.first.keys : matrix.keys;
  check.within(columns, least, ATTEND_MAX_TOKENS, keys);
  return extent_of({call.batch, call.first.queries, call.first.query_heads, columns},
                   {matrix.batch_stride, matrix.query_stride, matrix.head_stride}, true);
}

core::Mask core_mask(const void* data, const Extent& extent) {
  return {data, 0, extent.strides.token, extent.strides.head, int(extent.counts.width)};
}

void check_mask(Check& check, const attend_problem& problem, Call& call) {
  const attend_mask& mask = problem.mask;
  const bool bits = mask.kind == ATTEND_MASK_BITS, none = mask.kind == ATTEND_MASK_NONE;
  if (mask.data == nullptr) {
    check.require(none, ATTEND_MISSING, ATTEND_ARG_MASK);
    return check.require(is_default(mask), ATTEND_NO_EFFECT, ATTEND_ARG_MASK);
  }
  check.require(!none, ATTEND_AMBIGUOUS, ATTEND_ARG_MASK_KIND);
  check.require(bits || none || mask.kind == ATTEND_MASK_BYTES, ATTEND_UNKNOWN, ATTEND_ARG_MASK_KIND);
  const Extent extent = matrix_extent(check, mask, call, 0, ATTEND_ARG_MASK_KEYS);
  const auto& [batch, token, head] = extent.strides;
  check.require(!bits || (batch >= 0 && token >= 0 && head >= 0), ATTEND_OUT_OF_RANGE, ATTEND_ARG_MASK);
  call.memory.read(check.place(mask.data, extent, bits ? 1 : 8, ATTEND_ARG_MASK).range);
  call.options.visible = core_mask(mask.data, extent);
  call.options.visible_bits = bits;
  call.mask_step = batch;
}

void check_bias(Check& check, const attend_problem& problem, Call& call) {
  const attend_bias& bias = problem.bias;
  if (bias.data == nullptr) return check.require(is_default(bias), ATTEND_NO_EFFECT, ATTEND_ARG_BIAS);
  const Extent extent = matrix_extent(check, bias, call, 0, ATTEND_ARG_BIAS_KEYS);
  call.memory.read(check.place(bias.data, extent, float_bits, ATTEND_ARG_BIAS).range);
  call.options.bias = core_mask(bias.data, extent);
  call.bias_step = extent.strides.batch;
}

void check_relative_bias(Check& check, const attend_problem& problem, Call& call) {
  const attend_relative_bias& bias = problem.relative_bias;
  if (bias.data == nullptr) {
    const bool set = bias.head_stride != ATTEND_DENSE || bias.left != -1 || bias.right != -1;
    return check.require(!set, ATTEND_NO_EFFECT, ATTEND_ARG_RELATIVE_BIAS);
  }
  check.within(bias.left, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_RELATIVE_BIAS_LEFT);
  check.within(bias.right, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_RELATIVE_BIAS_RIGHT);
  if (check.failed()) return;
  const Extent extent = extent_of({1, 1, problem.query_heads, bias.left + 1 + bias.right}, {0, 0, bias.head_stride}, true);
  call.memory.read(check.place(bias.data, extent, float_bits, ATTEND_ARG_RELATIVE_BIAS).range);
  call.options.relative = bias.data;
  call.options.relative_head_stride = extent.strides.head;
  call.options.relative_left = int(bias.left);
  call.options.relative_right = int(bias.right);
}

// A number for each query head.
const float* check_heads(Check& check, const float* data, Call& call, attend_argument argument) {
  if (data != nullptr) call.memory.read(check.array(data, call.first.query_heads, float_bits, argument));
  return data;
}

void check_scores(Check& check, const attend_problem& problem, Call& call) {
  const attend_scores& scores = problem.scores;
  const bool none = scores.stage == ATTEND_SCORES_NONE;
  if (scores.data == nullptr) {
    check.require(none, ATTEND_MISSING, ATTEND_ARG_SCORES);
    return check.require(is_default(scores), ATTEND_NO_EFFECT, ATTEND_ARG_SCORES);
  }
  check.require(!none, ATTEND_AMBIGUOUS, ATTEND_ARG_SCORES_STAGE);
  const bool known = scores.stage >= ATTEND_SCORES_NONE && scores.stage <= ATTEND_SCORES_WEIGHTS;
  check.require(known, ATTEND_UNKNOWN, ATTEND_ARG_SCORES_STAGE);
  // What weights are divided by is not known before the last key.
  const bool possible = problem.states == nullptr || scores.stage != ATTEND_SCORES_WEIGHTS;
  check.require(possible, ATTEND_CONFLICT, ATTEND_ARG_SCORES_STAGE);
  const Extent extent = matrix_extent(check, scores, call, call.first.keys, ATTEND_ARG_SCORES_KEYS);
  const Place found = check.place_apart(scores.data, extent, float_bits, ATTEND_ARG_SCORES);
  call.memory.write(check, found.range, ATTEND_ARG_SCORES);
  call.score_step = found.batch_step;
  call.options.scores = core_tensor<float>(scores.data, extent);
  call.options.score_keys = int(extent.counts.width);
  call.options.score_stage = core::Scores(scores.stage - 1);
}

}  // namespace

void check_sink_logits(Check& check, const attend_problem& problem, Call& call) {
  call.options.sinks = check_heads(check, problem.sink_logits, call, ATTEND_ARG_SINK_LOGITS);
}

void check_options(Check& check, const attend_problem& problem, Call& call) {
  core::Options& options = call.options;
  options.states.data = static_cast<float*>(problem.states);
  options.soft_cap = problem.soft_cap;
  options.query_format = core::Format(problem.query_format);
  check.within(problem.first_key, 0, call.first.keys, ATTEND_ARG_FIRST_KEY);
  check.require(problem.states != nullptr || problem.first_key == 0, ATTEND_NO_EFFECT, ATTEND_ARG_FIRST_KEY);
  options.first_key = check.failed() ? 0 : int(problem.first_key);
  check_windows(check, problem, options);
  check_mask(check, problem, call);
  check_bias(check, problem, call);
  check_relative_bias(check, problem, call);
  options.slopes = check_heads(check, problem.alibi_slopes, call, ATTEND_ARG_ALIBI_SLOPES);
  check_sink_logits(check, problem, call);
  check_key_options(check, problem, call);
}

void check_option_results(Check& check, const attend_problem& problem, Call& call) {
  check_scores(check, problem, call);
  if (problem.states == nullptr) return;
  call.memory.write(check, check_states(check, problem.states, call, ATTEND_ARG_STATES), ATTEND_ARG_STATES);
  if (check.failed()) return;
  call.options.states = states_of(problem.states, call);
  call.state_step = call.first.queries * call.options.states.token_stride * ptrdiff_t(sizeof(float));
}

}  // namespace c_surface
}  // namespace attend
