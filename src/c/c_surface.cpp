// The C surface: filling in a problem, sizing it, running it whole or in parts.
#include "surface.h"

#include "../call/portable.h"

namespace attend {
namespace c_surface {

namespace {

// Field by field, in their order.
constexpr attend_problem defaults = {
    sizeof(attend_problem),
    0,
    ATTEND_BATCH_TOKEN_HEAD_DIM,
    ATTEND_DEFAULT_SCALE,
    0,
    ATTEND_DEFAULT_FORMAT,
    ATTEND_DEFAULT_FORMAT,
    ATTEND_DEFAULT_FORMAT,
    ATTEND_DEFAULT_FORMAT,
    ATTEND_DEFAULT_BATCH,
    0,
    0,
    0,
    0,
    unset,  // queries
    ATTEND_ALL_KEYS,
    ATTEND_DEFAULT_OFFSET,
    nullptr,
    no_input,  // query
    no_input,
    no_input,
    no_output,
    nullptr,
    ATTEND_NO_LIMIT,
    ATTEND_NO_LIMIT,
    0,
    no_mask,
    {nullptr, dense_stride, dense_stride, dense_stride, ATTEND_ALL_KEYS},  // bias
    nullptr,
    {nullptr, dense_stride, unset, unset},  // relative_bias
    nullptr,
    {nullptr, dense_stride, dense_stride},  // key_scales
    {nullptr, dense_stride, dense_stride},
    no_output,  // lse
    {nullptr, dense_stride, dense_stride, dense_stride, ATTEND_ALL_KEYS, ATTEND_SCORES_NONE},
    ATTEND_DEFAULT_ORIGIN,
    {nullptr, dense_stride, 0, 0},  // pages
    nullptr,
    0,
};

// Options too.
void check_whole(Check& check, const attend_problem* problem, Call& call) {
  check_call(check, problem, call);
  if (!check.failed() && !call.plain) check_options(check, *problem, call);
}

}  // namespace

float scale_of(const attend_problem& problem) {
  constexpr float usual = ATTEND_DEFAULT_SCALE;
  const bool given = bits_to<uint32_t>(problem.scale) != bits_to<uint32_t>(usual);
  return given ? problem.scale : usual_scale(int(problem.head_dim));
}

// Whatever differs from its default from window_left on is an option, fields that later versions add there too. It is compared
// by the compiler's own vectors, which every target has, two at a time.
bool is_plain(const attend_problem& problem) {
  constexpr size_t first = offsetof(attend_problem, window_left), bytes = sizeof problem - first;
  using Bytes = unsigned char __attribute__((vector_size(16)));
  const auto* const given = reinterpret_cast<const unsigned char*>(&problem) + first;
  const auto* const usual = reinterpret_cast<const unsigned char*>(&defaults) + first;
  const auto compare = [&](size_t at, Bytes& differences) {
    Bytes of_problem, of_defaults;
    __builtin_memcpy(&of_problem, given + at, sizeof of_problem);
    __builtin_memcpy(&of_defaults, usual + at, sizeof of_defaults);
    differences |= of_problem ^ of_defaults;
  };
  Bytes even = {}, odd = {};
  for (size_t at = 0; at < bytes - 2 * sizeof(Bytes); at += 2 * sizeof(Bytes)) {
    compare(at, even);
    compare(at + sizeof(Bytes), odd);
  }
  compare(bytes - 2 * sizeof(Bytes), even);  // the last two may overlap those before
  compare(bytes - sizeof(Bytes), odd);
  even |= odd;
  uint64_t halves[2];
  __builtin_memcpy(halves, &even, sizeof halves);
  const uint64_t any = halves[0] | halves[1];
  const auto is_small = [](int format) { return format != ATTEND_DEFAULT_FORMAT && format != ATTEND_FLOAT32; };
  const bool formats = is_small(problem.query_format) || is_small(problem.key_format) || is_small(problem.value_format) ||
                       is_small(problem.output_format);
  return any == 0 && !formats && magnitude(problem.soft_cap) == 0 && (problem.options & ~ATTEND_CAUSAL) == 0;
}

core::Problem problem_of_row(const Call& call, ptrdiff_t row) {
  core::Problem of_row = call.first;
  move(of_row.query.data, row * call.query_step);
  move(of_row.output.data, row * call.output_step);
  move(of_row.key.data, row * call.key_step);
  move(of_row.value.data, row * call.value_step);
  of_row.keys = int(call.keys_of_row(row));
  return of_row;
}

}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_problem_init(attend_problem* problem, size_t size) {
  Check check;
  check.new_struct(problem, alignof(attend_problem), sizeof *problem, size, ATTEND_ARG_PROBLEM);
  if (check.failed()) return check.status();
  *problem = defaults;
  problem->size = size;
  return ATTEND_OK;
}

attend_status attend_check(const attend_problem* problem) {
  Check check;
  Call call;
  check_whole(check, problem, call);
  return check.status();
}

size_t attend_workspace_size(const attend_problem* problem) {
  Check check;
  Call call;
  call.runs_later = true;
  check_whole(check, problem, call);
  return check.failed() ? 0 : call.workspace_bytes;
}

attend_status attend_run_part(const attend_problem* problem, ptrdiff_t part, ptrdiff_t parts, void* workspace,
                              size_t workspace_size) {
  Check check;
  Call call;
  check_call(check, problem, call);
  if (!check.failed()) check_parts(check, {part, parts}, problem->queries, call.first.keys);
  if (!check.failed()) {
    const Range work = check_workspace(check, workspace, workspace_size, call.workspace_bytes);
    call.memory.write(check, work, ATTEND_ARG_WORKSPACE);
  }
  if (check.failed()) return check.status();
  call.first.scratch = static_cast<float*>(workspace);
  call.first.scale = scale_of(*problem);
  if (!call.plain) return run_options(*problem, call, int(part), int(parts));
  each_row(call, {part, parts}, [&](ptrdiff_t row, int row_part, int row_parts) {
    const core::Problem of_row = problem_of_row(call, row);
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
