// Running a problem of the C surface, whole, in parts, or over several calls into states.
#include "states.h"

#include "../call/portable.h"

namespace attend::c_surface {

namespace {

// Calls with each batch row, or a part of it. Not inlined: its copies would lie on the stack once for each place of the call.
template <class Run>
void each_row_with_options(const Call& call, const CallOptions& call_options, const Parts& cut, Run run) {
  each_row(call, cut, [&](ptrdiff_t row, int row_part, int row_parts) ATTEND_NOINLINE {
    core::Problem row_problem = call.option_problem_of_row(row);
    core::RangedOptions options = options_of_row(call_options, row);
    run(row_problem, options, Parts{row_part, row_parts});
  });
}

// Runs a part of a batch row into its states.
void run_into_states(const Call& call, const core::SeenKeys& seen, core::Problem& row, core::RangedOptions& options,
                     const Parts& cut) {
  const int keys = row.keys, width = row.value_dim, end = call.first.keys;
  const auto run = [&](int from, int to) {
    options.first_key = from;
    row.keys = at_least(from, at_most(keys, to));  // a row that has ended takes none
    call.arithmetic->options->run_row(cut, row, options);
    each_state(row, options, cut, [&](float* state) { call.arithmetic->options->skip_keys(state, width, row.keys, to); });
  };
  seen.go_over(options.first_key, end, run, [&](int from, int to) {
    each_state(row, options, cut, [&](float* state) { call.arithmetic->options->leave(state, width, from, to); });
  });
  each_state(row, options, cut, [&](float* state) { set_next_key(state, end); });
}

// Options too.
void check_whole(Call& call, const attend_problem* problem) {
  check_call(call, problem);
  if (!call.failed() && !call.plain) call.arithmetic->options->check(call, *problem);
}

// Runs a part of a call that was checked, once its options and work memory are, too.
attend_status run_checked(Call& call, const attend_problem& problem, const Parts& cut, void* workspace, size_t size) {
  if (call.plain) check_workspace(call, workspace, size, call.workspace_bytes);
  if (call.failed()) return call.status();
  if (!call.plain) return call.arithmetic->options->run(problem, call, workspace, size, cut);
  call.arithmetic->begin(call, problem, workspace);
  call.arithmetic->run(call, cut);
  return ATTEND_OK;
}

}  // namespace

// Refuses a run that does not begin at the states' next key.
attend_status run_options(const attend_problem& problem, Call& call, void* workspace, size_t size, const Parts& cut) {
  CallOptions call_options;
  check_options(call, problem, call_options);
  check_workspace(call, workspace, size, call.workspace_bytes);
  const bool has_states = problem.states != nullptr;
  core::SeenKeys seen = {};
  if (has_states && !call.failed()) {
    check_begun(call, problem.states, ATTEND_ARG_STATES);
    seen = call.arithmetic->options->seen_keys(call.first, call_options.first);
    StatesOfPart states = {call, seen, nullptr};
    each_row_with_options(
        call, call_options, cut, [&](const core::Problem& row, const core::RangedOptions& options, const Parts& row_cut) {
          each_state(row, options, row_cut, [&](const float* state) { states.check(state, options.first_key); });
        });
  }
  if (call.failed()) return call.status();
  call.arithmetic->begin(call, problem, workspace);
  each_row_with_options(call, call_options, cut, [&](core::Problem& row, core::RangedOptions& options, const Parts& row_cut) {
    if (has_states) return run_into_states(call, seen, row, options, row_cut);
    call.arithmetic->options->run_row(row_cut, row, options);
  });
  return ATTEND_OK;
}

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_check(const attend_problem* problem) {
  Call call;
  check_whole(call, problem);
  return call.status();
}

size_t attend_workspace_size(const attend_problem* problem) {
  Call call;
  call.runs_later = true;
  check_whole(call, problem);
  return call.failed() ? 0 : call.workspace_bytes;
}

attend_status attend_run_part(const attend_problem* problem, ptrdiff_t part, ptrdiff_t parts, void* workspace,
                              size_t workspace_size) {
  Call call;
  check_call(call, problem);
  if (call.failed()) return call.status();
  check_parts(call, {part, parts}, call.first.queries, call.first.keys);
  call.require(parts == 1 || call.arithmetic->options != nullptr, ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC);
  return run_checked(call, *problem, {part, parts}, workspace, workspace_size);
}

attend_status attend_run(const attend_problem* problem, void* workspace, size_t workspace_size) {
  Call call;
  check_call(call, problem);
  if (call.failed()) return call.status();  // the problem may be null
  return run_checked(call, *problem, {0, 1}, workspace, workspace_size);
}

}  // extern "C"
