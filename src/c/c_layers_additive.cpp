// Additive attention of the C surface: attention of one head whose scores are given as a bias.
#include "layers.h"

#include "../../include/attend/core/additive.h"
#include "../call/portable.h"

namespace attend {
namespace c_surface {
namespace {

// Requires the fields that would change or show other scores as they were initialised.
void check_left_to_additive(Check& check, const attend_problem& problem) {
  const auto left = [&](bool is_unset, attend_argument argument) { check.require(is_unset, ATTEND_CONFLICT, argument); };
  constexpr float usual = ATTEND_DEFAULT_SCALE;
  const int stage = problem.scores.stage;
  check_one_sequence(check, problem);
  left(bits_to<uint32_t>(problem.scale) == bits_to<uint32_t>(usual), ATTEND_ARG_SCALE);
  left(magnitude(problem.soft_cap) == 0, ATTEND_ARG_SOFT_CAP);
  left(problem.bias.data == nullptr, ATTEND_ARG_BIAS);
  left(stage != ATTEND_SCORES_RAW && stage != ATTEND_SCORES_CAPPED, ATTEND_ARG_SCORES_STAGE);
  left(problem.query_heads == 1, ATTEND_ARG_QUERY_HEADS);
}

// Where the work memory has what beside that of attention, in floats: scores [queries][keys], then sums of some keys.
struct AdditiveMemory {
  uint64_t scores, sums, floats;
};

// Checks everything but v and work memory. The problem of the call becomes one whose queries and keys have one number.
AdditiveMemory check_additive(Check& check, const attend_problem* problem, CallOptions& options) {
  Call& call = options.call;
  call.one_sequence = true;
  check_rows(check, problem, call);
  if (check.failed()) return {};
  check_left_to_additive(check, *problem);
  if (check.failed()) return {};
  call.memory = Memory();
  check_call(check, problem, call);
  if (!check.failed() && !call.plain) check_options(check, *problem, options);
  if (check.failed()) return {};
  const uint64_t hidden = uint64_t(call.first.head_dim);
  call.first.head_dim = 1;
  call.plain = false;
  plan(call, call.first.keys);
  AdditiveMemory memory;
  memory.scores = call.workspace_bytes / sizeof(float);
  memory.sums = memory.scores + uint64_t(call.first.queries) * uint64_t(call.first.keys);
  memory.floats = memory.sums + core::additive_keys * hidden;
  check.require(memory.floats <= PTRDIFF_MAX / sizeof(float), ATTEND_TOO_LARGE, ATTEND_ARG_KEYS);
  return memory;
}

}  // namespace
}  // namespace c_surface
}  // namespace attend

using namespace attend;
using namespace attend::c_surface;

extern "C" {

size_t attend_additive_workspace_size(const attend_problem* problem) {
  Check check;
  Call call;
  CallOptions options = {call};
  const AdditiveMemory memory = check_additive(check, problem, options);
  return check.failed() ? 0 : size_t(memory.floats * sizeof(float));
}

attend_status attend_additive_attention(const attend_problem* problem, const float* v, void* workspace, size_t workspace_size) {
  Check check;
  Call call;
  CallOptions options = {call};
  const AdditiveMemory memory = check_additive(check, problem, options);
  if (check.failed()) return check.status();
  call.memory.read(check, check.array(v, problem->head_dim, float_bits, ATTEND_ARG_V));
  const Range range = check_workspace(check, workspace, workspace_size, size_t(memory.floats * sizeof(float)));
  call.memory.write(check, range, ATTEND_ARG_WORKSPACE);
  if (check.failed()) return check.status();
  core::Problem row_problem = problem_of_row(call, 0);
  if (row_problem.queries == 0) return ATTEND_OK;
  float* const work = static_cast<float*>(workspace);
  float* const scores = work + size_t(memory.scores);
  for (int t = 0; t < row_problem.queries; ++t) {
    core::additive_scores({v, int(problem->head_dim), work + size_t(memory.sums)},
                          row_problem.query.data + t * row_problem.query.token_stride, row_problem.key, row_problem.keys,
                          scores + t * ptrdiff_t(call.first.keys));
  }
  constexpr float zero = 0.0f;
  row_problem.query = row_problem.key = {&zero, 0, 0};  // the only number of every query and key
  row_problem.scale = 1.0f;
  row_problem.scratch = work;
  if (call.queries_last) row_problem.offset = row_problem.keys - row_problem.queries;
  options.first.bias = {scores, 0, call.first.keys, 0, call.first.keys};
  core::run(row_problem, options.first);
  return ATTEND_OK;
}

}  // extern "C"
