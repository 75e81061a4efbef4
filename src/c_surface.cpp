// The C surface: filling in a problem, sizing it, running it whole or in parts.
#include "c_api/surface.h"

#include "numerics/bits.h"
#include "numerics/float_rules.h"
#include "simd/scalar.h"

namespace attend {
namespace c_surface {

// Newton's iteration without divisions, y = y * (1.5 - n / 2 * y^2), begun within 4 % by halving the exponent. Its last step is
// from the exact remainder 1 - n * y^2 but for its own rounding, so that the result is the nearest float (tests go through
// all).
float usual_scale(int head_dim) {
  const float n = float(head_dim), half = 0.5f * n;
  float y = bits_to<float>(0x5f375a86u - bits_to<uint32_t>(n) / 2);
  for (int step = 0; step < 3; ++step) {
    const float square = Scalar::mul(y, y);
    y = Scalar::mul(y, Scalar::fma(-half, square, 1.5f));
  }
  const float product = Scalar::mul(n, y), lost = Scalar::fma(n, y, -product);
  const float remainder = Scalar::sub(Scalar::fma(-product, y, 1.0f), Scalar::mul(lost, y));
  return Scalar::fma(0.5f * y, remainder, y);
}

namespace {

attend_status check_workspace(const Checked& checked, const void* workspace, size_t size) {
  if (workspace == nullptr) return ATTEND_NO_WORKSPACE;
  if (!aligned(workspace, config::alignment)) return ATTEND_UNALIGNED_WORKSPACE;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(workspace);
  if (size < checked.workspace_bytes || checked.workspace_bytes > UINTPTR_MAX - begin) return ATTEND_SMALL_WORKSPACE;
  const Range used = {begin, begin + checked.workspace_bytes};
  if (overlap(used, checked.output)) return ATTEND_WORKSPACE_OVERLAPS_OUTPUT;
  return overlap_any(used, checked.inputs) ? ATTEND_WORKSPACE_OVERLAPS_INPUT : ATTEND_OK;
}

attend_status check_parts(const core::Problem& problem, ptrdiff_t part, ptrdiff_t parts) {
  if (!within(parts, 1, ATTEND_MAX_PARTS)) return ATTEND_BAD_PARTS;
  if (!within(part, 0, parts - 1)) return ATTEND_BAD_PART;
  const uint64_t work = uint64_t(problem.queries) * (uint64_t(problem.keys) + 16);
  return parts > 1 && work >> 47 != 0 ? ATTEND_UNCUTTABLE : ATTEND_OK;
}

// Strides of a dense tensor, outermost axis first: false when the outermost cannot be counted.
template <class Tensor>
bool set_strides(Tensor& tensor, ptrdiff_t tokens, ptrdiff_t heads, ptrdiff_t width, bool heads_first) {
  ptrdiff_t& outer = heads_first ? tensor.head_stride : tensor.token_stride;
  ptrdiff_t& inner = heads_first ? tensor.token_stride : tensor.head_stride;
  const ptrdiff_t outer_count = heads_first ? heads : tokens, inner_count = heads_first ? tokens : heads;
  inner = width;
  return !__builtin_mul_overflow(width, inner_count, &outer) &&
         !__builtin_mul_overflow(outer, outer_count, &tensor.batch_stride);
}

// Everything but parts and work memory.
attend_status check_whole(const attend_problem* problem, Checked& checked) {
  const attend_status status = check_problem(problem, Use::run, checked);
  if (status != ATTEND_OK || checked.plain) return status;
  CheckedOptions options;
  return check_options(*problem, Use::run, checked, options);
}

}  // namespace

core::Problem problem_of_row(const Checked& checked, ptrdiff_t row) {
  core::Problem of_row = checked.first;
  move(of_row.query.data, row * checked.query_step);
  move(of_row.output.data, row * checked.output_step);
  move(of_row.key.data, row * checked.key_step);
  move(of_row.value.data, row * checked.value_step);
  if (checked.key_lengths != nullptr) of_row.keys = int(checked.key_lengths[row]);
  return of_row;
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_problem_init(attend_problem* problem, size_t size) {
  if (problem == nullptr || !aligned(problem, alignof(attend_problem))) return ATTEND_NO_PROBLEM;
  if ((size < sizeof *problem && size != ATTEND_PROBLEM_SIZE_1) || size > largest_struct) return ATTEND_BAD_STRUCT_SIZE;
  __builtin_memset(static_cast<void*>(problem), 0, size);
  problem->size = size;
  problem->scale = ATTEND_DEFAULT_SCALE;
  problem->batch = 1;
  problem->keys = ATTEND_ALL_KEYS;
  problem->offset = ATTEND_DEFAULT_OFFSET;
  return ATTEND_OK;
}

attend_status attend_problem_set_layout(attend_problem* problem, int layout) {
  if (problem == nullptr || !aligned(problem, alignof(attend_problem))) return ATTEND_NO_PROBLEM;
  const bool grown = problem->size >= sizeof *problem;
  if ((!grown && problem->size != ATTEND_PROBLEM_SIZE_1) || problem->size > largest_struct) return ATTEND_BAD_STRUCT_SIZE;
  if (layout != ATTEND_BATCH_TOKEN_HEAD_DIM && layout != ATTEND_BATCH_HEAD_TOKEN_DIM) return ATTEND_BAD_LAYOUT;
  if (!within(problem->query_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_QUERY_HEADS;
  if (!within(problem->kv_heads, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_KV_HEADS;
  if (!within(problem->head_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_HEAD_DIM;
  if (!within(problem->value_dim, 1, ATTEND_MAX_WIDTH)) return ATTEND_BAD_VALUE_DIM;
  if (!within(problem->queries, 1, ATTEND_MAX_TOKENS)) return ATTEND_BAD_QUERIES;
  if (!within(problem->keys, ATTEND_ALL_KEYS, ATTEND_MAX_TOKENS)) return ATTEND_BAD_KEYS;
  const ptrdiff_t scored = more_of(*problem).scores.keys;
  if (!within(scored, 0, ATTEND_MAX_TOKENS)) return ATTEND_BAD_SCORE_KEYS;
  const ptrdiff_t keys = array_keys(*problem, problem->keys < 0 ? 0 : problem->keys);  // those of a cache have no strides
  const bool heads_first = layout == ATTEND_BATCH_HEAD_TOKEN_DIM;
  const ptrdiff_t queries = problem->queries, heads = problem->query_heads;
  attend_input query = problem->query, key = problem->key, value = problem->value;
  attend_output output = problem->output, lse, scores;
  if (!set_strides(query, queries, heads, problem->head_dim, heads_first)) return ATTEND_HUGE_QUERY;
  if (!set_strides(key, keys, problem->kv_heads, problem->head_dim, heads_first)) return ATTEND_HUGE_KEY;
  if (!set_strides(value, keys, problem->kv_heads, problem->value_dim, heads_first)) return ATTEND_HUGE_VALUE;
  if (!set_strides(output, queries, heads, problem->value_dim, heads_first)) return ATTEND_HUGE_OUTPUT;
  if (!set_strides(lse, queries, heads, 1, heads_first)) return ATTEND_HUGE_LSE;
  if (!set_strides(scores, queries, heads, scored, true)) return ATTEND_HUGE_SCORES;
  problem->query = query;
  problem->key = key;
  problem->value = value;
  problem->output = output;
  if (!grown) return ATTEND_OK;
  lse.data = problem->lse.data;
  problem->lse = lse;
  problem->scores.batch_stride = scores.batch_stride;
  problem->scores.head_stride = scores.head_stride;
  problem->scores.query_stride = scores.token_stride;
  return ATTEND_OK;
}

float attend_default_scale(ptrdiff_t head_dim) {
  return within(head_dim, 1, ATTEND_MAX_WIDTH) ? usual_scale(int(head_dim)) : 0.0f;
}

attend_status attend_check(const attend_problem* problem) {
  Checked checked;
  return check_whole(problem, checked);
}

size_t attend_workspace_size(const attend_problem* problem) {
  Checked checked;
  return check_whole(problem, checked) == ATTEND_OK ? checked.workspace_bytes : 0;
}

attend_status attend_run_part(const attend_problem* problem, ptrdiff_t part, ptrdiff_t parts, void* workspace,
                              size_t workspace_size) {
  Checked checked;
  attend_status status = check_problem(problem, Use::run, checked);
  if (status == ATTEND_OK) status = check_parts(checked.first, part, parts);
  if (status == ATTEND_OK) status = check_workspace(checked, workspace, workspace_size);
  if (status != ATTEND_OK) return status;
  checked.first.scratch = static_cast<float*>(workspace);
  if (!checked.plain) return run_options(*problem, checked, int(part), int(parts));
  each_row(*problem, checked, int(part), int(parts), [&](ptrdiff_t row, int row_part, int row_parts) {
    const core::Problem of_row = problem_of_row(checked, row);
    if (row_parts == 1) {
      core::run(of_row);
    } else {
      core::run_part(of_row, row_part, row_parts);
    }
  });
  return ATTEND_OK;
}

attend_status attend_run(const attend_problem* problem, void* workspace, size_t workspace_size) {
  return attend_run_part(problem, 0, 1, workspace, workspace_size);
}

}  // extern "C"
