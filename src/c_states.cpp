// Running a problem of the C surface that has options, and its states: sizing, finishing, merging.
#include "c_api/surface.h"

namespace attend {
namespace c_surface {
namespace {

// Floats of states; false when they cannot be counted.
bool state_count(ptrdiff_t batch, ptrdiff_t queries, ptrdiff_t query_heads, ptrdiff_t value_dim, ptrdiff_t& floats) {
  return !__builtin_mul_overflow(batch, queries, &floats) && !__builtin_mul_overflow(floats, query_heads, &floats) &&
         !__builtin_mul_overflow(floats, ptrdiff_t(core::state_floats(int(value_dim))), &floats);
}

// All fields by name: one that core::Options gets does not compile here until somebody has said what a batch row has of it.
core::Options options_of_row(const CheckedOptions& options, ptrdiff_t row) {
  core::Options of_row = options.first;
  [[maybe_unused]] auto& [left, right, pinned, visible, visible_bits, bias, slopes, relative, relative_head_stride,
                          relative_left, relative_right, soft_cap, sinks, lse, scores, score_keys, score_stage, query_format,
                          key_format, value_format, output_format, key_scales, value_scales, key_scale_stride,
                          value_scale_stride, paging, origin, states, first_key, begins] = of_row;
  visible.first = row * options.mask_step;
  bias.first = row * options.bias_step;
  move(key_scales, row * options.key_scale_step);
  move(value_scales, row * options.value_scale_step);
  move(paging.pages, row * options.page_step);
  move(lse.data, row * options.lse_step);
  move(scores.data, row * options.score_step);
  move(states.data, row * options.state_step);
  return of_row;
}

}  // namespace

attend_status check_state_memory(const void* states, attend_status none, const Checked& checked, Range& range) {
  ptrdiff_t floats;
  const core::Problem& first = checked.first;
  const bool counted = state_count(checked.batch, first.queries, first.query_heads, first.value_dim, floats);
  return check_span(states, {{1, 0}, {1, 0}, {1, 0}, counted ? floats : PTRDIFF_MAX}, float_bits, none, range);
}

// Not inlined: calls without options need none of its stack.
__attribute__((noinline)) attend_status run_options(const attend_problem& problem, const Checked& checked, int part,
                                                    int parts) {
  CheckedOptions options;
  const attend_status status = check_options(problem, Use::run, checked, options);
  if (status != ATTEND_OK) return status;
  const uintptr_t scratch = reinterpret_cast<uintptr_t>(checked.first.scratch);
  const Range used = {scratch, scratch + checked.workspace_bytes}, results[] = {options.lse, options.scores, options.states};
  if (overlap_any(used, options.inputs) || overlap_any(used, results)) return ATTEND_WORKSPACE_OVERLAPS_OPTION;
  each_row(problem, checked, part, parts, [&](ptrdiff_t row, int row_part, int row_parts) {
    core::Problem of_row = problem_of_row(checked, row);
    const core::Options row_options = options_of_row(options, row);
    if ((problem.options & ATTEND_QUERIES_LAST) != 0) of_row.offset = of_row.keys - of_row.queries;
    // States of a row that ends before the keys of this call stay as they are, or begin without a key.
    if (of_row.keys < row_options.first_key) of_row.keys = row_options.first_key;
    if (row_parts == 1) {
      core::run(of_row, row_options);
    } else {
      core::run_part(of_row, row_options, row_part, row_parts);
    }
  });
  return ATTEND_OK;
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

size_t attend_state_size(const attend_problem* problem) {
  if (problem == nullptr || !aligned(problem, alignof(attend_problem))) return 0;
  ptrdiff_t floats;
  const bool right = check_size(problem, problem->size, ATTEND_PROBLEM_SIZE_1, sizeof *problem) == ATTEND_OK &&
                     within(problem->batch, 1, ATTEND_MAX_TOKENS) && within(problem->queries, 1, ATTEND_MAX_TOKENS) &&
                     within(problem->query_heads, 1, ATTEND_MAX_WIDTH) && within(problem->value_dim, 1, ATTEND_MAX_WIDTH) &&
                     state_count(problem->batch, problem->queries, problem->query_heads, problem->value_dim, floats);
  return right && floats <= PTRDIFF_MAX / ptrdiff_t(sizeof(float)) ? size_t(floats) * sizeof(float) : 0;
}

attend_status attend_finish(const attend_problem* problem) {
  Checked checked;
  CheckedOptions options;
  attend_status status = check_problem(problem, Use::finish, checked);
  if (status == ATTEND_OK) status = check_options(*problem, Use::finish, checked, options);
  if (status != ATTEND_OK) return status;
  for (ptrdiff_t row = 0; row < checked.batch; ++row) {
    core::finish(problem_of_row(checked, row), options_of_row(options, row));
  }
  return ATTEND_OK;
}

attend_status attend_merge(const attend_problem* problem, const void* later) {
  Checked checked;
  if (const attend_status status = check_problem(problem, Use::merge, checked); status != ATTEND_OK) return status;
  CheckedOptions options;
  Range read;
  attend_status status = check_options(*problem, Use::merge, checked, options);
  if (status == ATTEND_OK) status = check_state_memory(later, ATTEND_NO_LATER_STATES, checked, read);
  if (status != ATTEND_OK) return status;
  if (overlap(options.states, read) || overlap_any(options.states, checked.inputs)) return ATTEND_STATES_OVERLAP_INPUT;
  const core::Problem& first = checked.first;
  const ptrdiff_t step = options.first.states.token_stride, tokens = checked.batch * first.queries;
  float* to = options.first.states.data;
  const float* from = static_cast<const float*>(later);
  for (ptrdiff_t token = 0; token < tokens; ++token) {
    core::merge(to + token * step, from + token * step, first.query_heads, first.value_dim);
  }
  return ATTEND_OK;
}

}  // extern "C"
