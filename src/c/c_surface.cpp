// The C surface: filling in a problem, sizing it, running it whole or in parts.
#include "surface.h"

#include "../call/portable.h"

namespace attend::c_surface {
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

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_problem_init(attend_problem* problem, size_t size) {
  const attend_status status = new_struct(problem, size, ATTEND_ARG_PROBLEM);
  if (status != ATTEND_OK) return status;
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
  check_run(check, call, {part, parts}, workspace, workspace_size);
  if (check.failed()) return check.status();
  call.first.scratch = static_cast<float*>(workspace);
  call.first.scale = scale_of(*problem);
  if (!call.plain) return run_options(*problem, call, int(part), int(parts));
  run_plain(call, {part, parts});
  return ATTEND_OK;
}

attend_status attend_run(const attend_problem* problem, void* workspace, size_t workspace_size) {
  return attend_run_part(problem, 0, 1, workspace, workspace_size);
}

}  // extern "C"
