// What a problem of the C surface asks for beyond core::Problem: refuses what must not be, and makes core::Options of the rest.
// Order: that of the statuses' numbers.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

attend_status check_windows(const attend_problem& problem, const attend_problem& more, core::Options& options) {
  const bool left = (problem.options & ATTEND_WINDOW_LEFT) != 0, right = (problem.options & ATTEND_WINDOW_RIGHT) != 0;
  if ((left && more.window_left < 0) || (right && more.window_right < 0)) return ATTEND_BAD_WINDOW;
  if (!within(more.pinned_keys, 0, ATTEND_MAX_TOKENS)) return ATTEND_BAD_PINNED_KEYS;
  const bool placed = left || right || more.slopes != nullptr || more.relative.data != nullptr;
  const bool given = problem.offset != ATTEND_DEFAULT_OFFSET && (problem.options & ATTEND_QUERIES_LAST) == 0;
  if (placed && given && !within(problem.offset, -ATTEND_MAX_TOKENS, ATTEND_MAX_TOKENS)) return ATTEND_BAD_OFFSET;
  // No position is so large that a wider window would show more.
  constexpr ptrdiff_t widest = 2 * ptrdiff_t(ATTEND_MAX_TOKENS);
  if (left) options.left = int(more.window_left < widest ? more.window_left : widest);
  if (right) options.right = int(more.window_right < widest ? more.window_right : widest);
  options.pinned = int(more.pinned_keys);
  return ATTEND_OK;
}

Extent mask_extent(const attend_mask& mask, const Checked& checked) {
  return {{checked.batch, mask.batch_stride},
          {checked.first.queries, mask.query_stride},
          {checked.first.query_heads, mask.head_stride},
          mask.keys};
}

core::Mask core_mask(const attend_mask& mask, const Extent& extent) {
  return {mask.data, 0, step(extent.token), step(extent.head), int(mask.keys)};
}

attend_status check_mask(const attend_mask& mask, const Checked& checked, CheckedOptions& options) {
  if (mask.kind == ATTEND_MASK_NONE) return mask.data == nullptr ? ATTEND_OK : ATTEND_BAD_MASK_KIND;
  if (mask.kind != ATTEND_MASK_BYTES && mask.kind != ATTEND_MASK_BITS) return ATTEND_BAD_MASK_KIND;
  if (mask.data == nullptr) return ATTEND_NO_MASK;
  if (!within(mask.keys, 0, ATTEND_MAX_TOKENS)) return ATTEND_BAD_MASK_KEYS;
  const Extent extent = mask_extent(mask, checked);
  const bool bits = mask.kind == ATTEND_MASK_BITS;
  if (bits && (step(extent.batch) < 0 || step(extent.token) < 0 || step(extent.head) < 0)) {
    return ATTEND_BAD_MASK_STRIDES;
  }
  if (check_span(mask.data, extent, bits ? 1 : 8, ATTEND_NO_MASK, options.inputs[0]) != ATTEND_OK) return ATTEND_HUGE_MASK;
  options.first.visible = core_mask(mask, extent);
  options.first.visible_bits = bits;
  options.mask_step = step(extent.batch);
  return ATTEND_OK;
}

attend_status check_bias(const attend_mask& bias, const Checked& checked, CheckedOptions& options) {
  if (bias.kind == ATTEND_MASK_NONE) return bias.data == nullptr ? ATTEND_OK : ATTEND_BAD_BIAS_KIND;
  if (bias.kind != ATTEND_MASK_FLOATS) return ATTEND_BAD_BIAS_KIND;
  if (bias.data == nullptr) return ATTEND_NO_BIAS;
  if (!within(bias.keys, 0, ATTEND_MAX_TOKENS)) return ATTEND_BAD_BIAS_KEYS;
  const Extent extent = mask_extent(bias, checked);
  const attend_status status = check_option(bias.data, extent, float_bits, ATTEND_UNALIGNED_BIAS, options.inputs[1]);
  if (status != ATTEND_OK) return status;
  options.first.bias = core_mask(bias, extent);
  options.bias_step = step(extent.batch);
  return ATTEND_OK;
}

attend_status check_relative(const attend_relative& relative, const Checked& checked, CheckedOptions& options) {
  if (relative.data == nullptr) return ATTEND_OK;
  if (!within(relative.left, 0, ATTEND_MAX_TOKENS) || !within(relative.right, 0, ATTEND_MAX_TOKENS)) return ATTEND_BAD_RELATIVE;
  const Extent extent = {{1, 0}, {1, 0}, {checked.first.query_heads, relative.head_stride}, relative.left + 1 + relative.right};
  const attend_status status = check_option(relative.data, extent, float_bits, ATTEND_UNALIGNED_RELATIVE, options.inputs[3]);
  if (status != ATTEND_OK) return status;
  options.first.relative = relative.data;
  options.first.relative_head_stride = step(extent.head);
  options.first.relative_left = int(relative.left);
  options.first.relative_right = int(relative.right);
  return ATTEND_OK;
}

// A number for each query head.
attend_status check_heads(const float* data, const Checked& checked, attend_status unaligned, Range& range) {
  if (data == nullptr) return ATTEND_OK;
  return array_range(data, size_t(checked.first.query_heads), sizeof(float), range) ? ATTEND_OK : unaligned;
}

// A result beside the output: there, apart, and what the core is told of it.
attend_status check_result(void* data, const Extent& extent, attend_status unaligned, core::Tensor<float>& tensor,
                           ptrdiff_t& batch_step, Range& range) {
  const attend_status status = check_option(data, extent, float_bits, unaligned, range);
  if (status != ATTEND_OK || data == nullptr) return status;
  if (!apart(extent)) return attend_status(unaligned + 2);
  tensor = core_tensor<float>(data, extent);
  batch_step = step(extent.batch) * ptrdiff_t(sizeof(float));
  return ATTEND_OK;
}

attend_status check_scores(const attend_scores& scores, const Checked& checked, CheckedOptions& options) {
  if (scores.data == nullptr) return ATTEND_OK;
  if (scores.stage < ATTEND_SCORES_RAW || scores.stage > ATTEND_SCORES_WEIGHTS) return ATTEND_BAD_SCORE_STAGE;
  if (!within(scores.keys, checked.first.keys, ATTEND_MAX_TOKENS)) return ATTEND_BAD_SCORE_KEYS;
  const Extent extent = {{checked.batch, scores.batch_stride},
                         {checked.first.queries, scores.query_stride},
                         {checked.first.query_heads, scores.head_stride},
                         scores.keys};
  options.first.score_keys = int(scores.keys);
  options.first.score_stage = core::Scores(scores.stage);
  return check_result(scores.data, extent, ATTEND_UNALIGNED_SCORES, options.first.scores, options.score_step, options.scores);
}

attend_status check_states(const attend_problem& problem, const attend_problem& more, Use use, const Checked& checked,
                           CheckedOptions& options) {
  const bool begins = use == Use::run && (problem.options & ATTEND_STATE_BEGINS) != 0;
  if (more.states == nullptr) {
    if (begins || use != Use::run) return ATTEND_NO_STATES;
    return more.first_key == 0 ? ATTEND_OK : ATTEND_BAD_FIRST_KEY;
  }
  const attend_status status = check_state_memory(more.states, ATTEND_NO_STATES, checked, options.states);
  if (status != ATTEND_OK) return status;
  const ptrdiff_t state = ptrdiff_t(core::state_floats(checked.first.value_dim)), token = state * checked.first.query_heads;
  options.first.states = {static_cast<float*>(more.states), token, state};
  options.state_step = token * checked.first.queries * ptrdiff_t(sizeof(float));
  if (use != Use::run) return ATTEND_OK;
  if (!within(more.first_key, 0, checked.first.keys) || (begins && more.first_key % segment_keys != 0)) {
    return ATTEND_BAD_FIRST_KEY;
  }
  if (more.scores.data != nullptr && more.scores.stage == ATTEND_SCORES_WEIGHTS) return ATTEND_WEIGHTS_OF_STATES;
  if ((problem.options & ATTEND_QUERIES_LAST) != 0) return ATTEND_LAST_OF_STATES;
  options.first.first_key = int(more.first_key);
  options.first.begins = begins;
  return ATTEND_OK;
}

attend_status check_overlaps(const Checked& checked, const CheckedOptions& options) {
  const auto reads = [&](Range range) { return overlap_any(range, checked.inputs) || overlap_any(range, options.inputs); };
  if (overlap_any(checked.output, options.inputs)) return ATTEND_OUTPUT_OVERLAPS_OPTION;
  if (overlap(options.lse, checked.output)) return ATTEND_LSE_OVERLAPS_OUTPUT;
  if (reads(options.lse)) return ATTEND_LSE_OVERLAPS_INPUT;
  if (overlap(options.scores, checked.output) || overlap(options.scores, options.lse)) return ATTEND_SCORES_OVERLAP_OUTPUT;
  if (reads(options.scores)) return ATTEND_SCORES_OVERLAP_INPUT;
  const Range results[] = {checked.output, options.lse, options.scores};
  if (overlap_any(options.states, results)) return ATTEND_STATES_OVERLAP_OUTPUT;
  return reads(options.states) ? ATTEND_STATES_OVERLAP_INPUT : ATTEND_OK;
}

}  // namespace

attend_status check_options(const attend_problem& problem, Use use, const Checked& checked, CheckedOptions& options) {
  const attend_problem& more = more_of(problem);
  core::Options& first = options.first;
  const bool runs = use == Use::run;
  attend_status status = ATTEND_OK;
  if (runs) {
    status = check_windows(problem, more, first);
    if (status == ATTEND_OK) status = check_mask(more.mask, checked, options);
    if (status == ATTEND_OK) status = check_bias(more.bias, checked, options);
    if (status == ATTEND_OK) status = check_heads(more.slopes, checked, ATTEND_UNALIGNED_SLOPES, options.inputs[2]);
    if (status == ATTEND_OK) status = check_relative(more.relative, checked, options);
  }
  if (status == ATTEND_OK && use != Use::merge) {
    status = check_heads(more.sinks, checked, ATTEND_UNALIGNED_SINKS, options.inputs[4]);
  }
  if (status == ATTEND_OK && runs) status = check_key_options(problem, checked, options);
  const bool writes = use == Use::finish || (runs && more.states == nullptr);
  if (status == ATTEND_OK && writes) {
    const Extent lse = extent_of(more.lse, checked.batch, checked.first.queries, checked.first.query_heads, 1);
    status = check_result(more.lse.data, lse, ATTEND_UNALIGNED_LSE, first.lse, options.lse_step, options.lse);
  }
  if (status == ATTEND_OK && runs) status = check_scores(more.scores, checked, options);
  if (status == ATTEND_OK) status = check_states(problem, more, use, checked, options);
  if (status == ATTEND_OK && use != Use::merge) status = check_overlaps(checked, options);
  if (status != ATTEND_OK) return status;
  first.slopes = more.slopes;
  first.sinks = more.sinks;
  first.soft_cap = more.soft_cap;
  first.query_format = core::Format(more.query_format);
  first.output_format = core::Format(more.output_format);
  return ATTEND_OK;
}

}  // namespace c_surface
}  // namespace attend
