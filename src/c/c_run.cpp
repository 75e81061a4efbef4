// Running a problem of the C surface, whole, in parts, or over several calls: its states are begun, finished and merged here.
//
// The memory of states is a head, which attend_begin writes, and then the states of all rows. Each row's state holds its next
// key, since threads with a part each move theirs on at different times.
#include "surface.h"

#include "../call/portable.h"

namespace attend::c_surface {
namespace {

constexpr uint32_t state_magic = 0x31537441;  // "AtS1"

struct StateHead {
  int32_t fields[5];  // batch, queries, query_heads, value_dim; the key that they began at
  uint32_t check;     // of these
  uint32_t nothing[10];
};
constexpr ptrdiff_t head_floats = sizeof(StateHead) / sizeof(float);
static_assert(sizeof(StateHead) == 64, "as the C header states");

StateHead head_of(const Call& call, ptrdiff_t first_key) {
  const core::Problem& first = call.first;
  StateHead head = {{int32_t(call.batch), first.queries, first.query_heads, first.value_dim, int32_t(first_key)}, 0, {}};
  head.check = check_sum(state_magic, head.fields, 5);
  return head;
}

// States that were begun, for the same extents; the key that they began at.
ptrdiff_t check_begun(Call& call, const void* states, attend_argument argument) {
  if (call.failed()) return 0;
  StateHead head;
  __builtin_memcpy(&head, states, sizeof head);
  call.require(head.check == check_sum(state_magic, head.fields, 5), ATTEND_CORRUPT, argument);
  const StateHead same = head_of(call, head.fields[4]);
  call.require(head.check == same.check, ATTEND_MISMATCH, argument);
  return head.fields[4];
}

// Numbers of a state, of all states, and of the memory that has them too; as many as can be where they cannot be counted.
ptrdiff_t state_numbers(const Call& call) {
  return call.arithmetic->state_numbers + ptrdiff_t(call.arithmetic->state_widths) * call.first.value_dim;
}
ptrdiff_t numbers_of_states(const Call& call) {
  ptrdiff_t numbers;
  const bool counted = !__builtin_mul_overflow(call.batch, call.first.queries, &numbers) &&
                       !__builtin_mul_overflow(numbers, call.first.query_heads, &numbers) &&
                       !__builtin_mul_overflow(numbers, state_numbers(call), &numbers);
  return counted ? numbers : PTRDIFF_MAX;
}
ptrdiff_t state_memory_numbers(const Call& call) {
  ptrdiff_t numbers = numbers_of_states(call);
  const ptrdiff_t others = head_floats + (call.arithmetic->finish_takes_numbers ? call.first.value_dim : 0);
  return __builtin_add_overflow(numbers, others, &numbers) ? PTRDIFF_MAX : numbers;
}

// Calls with the states of each batch row, as a problem of the core.
template <class Row>
void each_states(const Call& call, const void* states, Row visit) {
  core::Problem rows = call.first;
  rows.kv_heads = rows.query_heads;
  core::Options options;
  options.states = states_of(const_cast<void*>(states), call);
  for (ptrdiff_t row = 0; row < call.batch; ++row) {
    visit(rows, options);
    options.states.data += call.first.queries * options.states.token_stride;
  }
}

// The states' next key, of those of a part: writes it, tests whether all have it. The arithmetic leaves it to its caller.
template <class Visit>
void each_next_key(const Call& call, const core::Problem& problem, const core::Options& options, const Parts& cut,
                   Visit visit) {
  each_unit(problem, options, int(cut.part), int(cut.parts), [&](const WorkUnit& unit) {
    for (int token = unit.token; token < unit.token + unit.tokens; ++token) {
      for (int head = unit.query_head; head < unit.query_head + unit.query_heads; ++head) {
        visit(element(options.states, token, head) + call.arithmetic->next_key_at);
      }
    }
  });
}
void set_next_key(const Call& call, const core::Problem& problem, const core::Options& options, const Parts& cut, int key) {
  each_next_key(call, problem, options, cut, [&](float* at) { __builtin_memcpy(at, &key, sizeof key); });
}
bool have_next_key(const Call& call, const core::Problem& problem, const core::Options& options, const Parts& cut, int key) {
  bool all = true;
  each_next_key(call, problem, options, cut, [&](const float* at) { all = all && bits_to<int>(*at) == key; });
  return all;
}

// The key before which all states stopped; they are corrupt if it is not one and the same.
ptrdiff_t check_next_key(Call& call, const void* states, attend_argument argument) {
  const ptrdiff_t began = check_begun(call, states, argument);
  if (call.failed() || call.batch == 0 || call.first.queries == 0) return began;
  const int key = bits_to<int>(states_of(const_cast<void*>(states), call).data[call.arithmetic->next_key_at]);
  each_states(call, states, [&](const core::Problem& problem, const core::Options& options) {
    call.require(key >= 0 && have_next_key(call, problem, options, {0, 1}, key), ATTEND_CORRUPT, argument);
  });
  return key;
}

// States that have taken the keys of the problem, up to the last.
void check_all_taken(Call& call, const attend_problem& problem) {
  if (call.failed() || call.batch == 0 || call.first.queries == 0) return;
  const ptrdiff_t began = check_begun(call, problem.states, ATTEND_ARG_STATES);
  const ptrdiff_t next_key = check_next_key(call, problem.states, ATTEND_ARG_STATES);
  if (problem.cache != nullptr) check_cache(call, problem.cache);
  if (problem.cache != nullptr && !call.failed()) call.read(cache_range(*problem.cache));
  const ptrdiff_t keys = check_key_count(call, problem);
  call.require(next_key == keys, ATTEND_MISMATCH, ATTEND_ARG_KEYS);
  call.require(next_key > began || keys == 0, ATTEND_MISMATCH, ATTEND_ARG_STATES);
}

// All fields by name: one that core::Options gets does not compile here until somebody has decided what a batch row has of it.
core::Options options_of_row(const CallOptions& options, ptrdiff_t row) {
  core::Options of_row = options.first;
  [[maybe_unused]] auto& [left, right, sink_tokens, visible, visible_bits, bias, alibi_slopes, relative, relative_head_stride,
                          relative_left, relative_right, soft_cap, sink_logits, lse, scores, score_keys, score_stage,
                          query_format, key_format, value_format, output_format, key_scales, value_scales, key_scale_stride,
                          value_scale_stride, paging, origin, states, first_key, begins, partial] = of_row;
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

// Calls with each batch row, or a part of it.
template <class Run>
void each_row_with_options(const Call& call, const CallOptions& call_options, const Parts& cut, Run run) {
  each_row(call, cut, [&](ptrdiff_t row, int row_part, int row_parts) {
    core::Problem of_row = call.option_problem_of_row(row);
    const core::Options options = options_of_row(call_options, row);
    // States of a row that ends before the keys of this call stay as they are.
    if (of_row.keys < options.first_key) of_row.keys = options.first_key;
    run(of_row, options, row_part, row_parts);
  });
}

// Options too.
void check_whole(Call& call, const attend_problem* problem) {
  check_call(call, problem);
  if (!call.failed() && !call.plain) check_options(call, *problem);
}

}  // namespace

core::Tensor<float> states_of(void* states, const Call& call) {
  const ptrdiff_t state = state_numbers(call);
  if (states == nullptr) return {nullptr, 0, 0};
  return {static_cast<float*>(states) + head_floats, state * call.first.query_heads, state};
}

void set_states(void* states, const Call& call, CallOptions& options) {
  options.first.states = states_of(states, call);
  options.state_step = call.first.queries * options.first.states.token_stride * ptrdiff_t(sizeof(float));
}

Range check_states(Call& call, const void* states, attend_argument argument) {
  return call.array(states, state_memory_numbers(call), float_bits, argument);
}

namespace {

// Checks options and runs a part; refuses it if it does not begin at the states' next key. Not inlined: calls without options
// need none of its stack.
__attribute__((noinline)) attend_status run_options(const attend_problem& problem, Call& call, void* workspace,
                                                    const Parts& cut) {
  CallOptions call_options;
  check_options(call, problem, call_options);
  const bool has_states = problem.states != nullptr;
  if (has_states && !call.failed()) {
    check_begun(call, problem.states, ATTEND_ARG_STATES);
    each_row_with_options(
        call, call_options, cut, [&](const core::Problem& row, const core::Options& options, int row_part, int row_parts) {
          const bool continues = call.failed() || have_next_key(call, row, options, {row_part, row_parts}, options.first_key);
          call.require(continues, ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY);
        });
  }
  if (call.failed()) return call.status();
  call.arithmetic->begin(call, problem, workspace);
  each_row_with_options(call, call_options, cut,
                        [&](const core::Problem& row, const core::Options& options, int row_part, int row_parts) {
                          call.arithmetic->run_row(call, row, options, {row_part, row_parts});
                          if (has_states) set_next_key(call, row, options, {row_part, row_parts}, call.first.keys);
                        });
  return ATTEND_OK;
}

}  // namespace
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
  check_run(call, {part, parts}, workspace, workspace_size);
  if (call.failed()) return call.status();
  if (!call.plain) return run_options(*problem, call, workspace, {part, parts});
  call.arithmetic->begin(call, *problem, workspace);
  call.arithmetic->run(call, {part, parts});
  return ATTEND_OK;
}

attend_status attend_run(const attend_problem* problem, void* workspace, size_t workspace_size) {
  return attend_run_part(problem, 0, 1, workspace, workspace_size);
}

size_t attend_state_size(const attend_problem* problem) {
  Call call;
  check_rows(call, problem);
  const ptrdiff_t numbers = call.failed() ? 0 : state_memory_numbers(call);
  return numbers <= PTRDIFF_MAX / ptrdiff_t(sizeof(float)) ? size_t(numbers) * sizeof(float) : 0;
}

attend_status attend_begin(const attend_problem* problem) {
  Call call;
  check_rows(call, problem);
  if (call.failed()) return call.status();
  const ptrdiff_t first_key = problem->first_key;
  call.within(first_key, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_FIRST_KEY);
  call.require(first_key % segment_keys == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_FIRST_KEY);
  call.write(check_states(call, problem->states, ATTEND_ARG_STATES), ATTEND_ARG_STATES);
  if (call.failed()) return call.status();
  const StateHead head = head_of(call, first_key);
  __builtin_memcpy(problem->states, &head, sizeof head);
  each_states(call, problem->states, [&](const core::Problem& row, const core::Options& options) {
    each_next_key(call, row, options, {0, 1},
                  [&](float* next) { call.arithmetic->begin_state(next - call.arithmetic->next_key_at, row.value_dim); });
    set_next_key(call, row, options, {0, 1}, int(first_key));
  });
  return ATTEND_OK;
}

attend_status attend_finish(const attend_problem* problem) {
  Call call;
  check_rows(call, problem);
  if (call.failed()) return call.status();
  CallOptions options;
  call.arithmetic->check_formats(call, *problem);
  call.read(check_states(call, problem->states, ATTEND_ARG_STATES));
  check_output(call, *problem);
  check_end(call, *problem, options, true);
  check_all_taken(call, *problem);
  if (call.failed()) return call.status();
  set_states(problem->states, call, options);
  float* const numbers = static_cast<float*>(problem->states) + head_floats + numbers_of_states(call);
  each_row(call, {0, 1}, [&](ptrdiff_t row, int, int) {
    call.arithmetic->finish_rows(call, *problem, call.problem_of_row(row), options_of_row(options, row), numbers);
  });
  return ATTEND_OK;
}

attend_status attend_merge(const attend_problem* problem, const void* later) {
  Call call;
  check_rows(call, problem);
  if (call.failed()) return call.status();
  call.read(check_states(call, later, ATTEND_ARG_LATER));
  call.write(check_states(call, problem->states, ATTEND_ARG_STATES), ATTEND_ARG_STATES);
  if (call.failed()) return call.status();
  const ptrdiff_t here = check_next_key(call, problem->states, ATTEND_ARG_STATES);
  const ptrdiff_t there = check_begun(call, later, ATTEND_ARG_LATER);
  call.require(here == there, ATTEND_MISMATCH, ATTEND_ARG_LATER);
  const ptrdiff_t end = check_next_key(call, later, ATTEND_ARG_LATER);
  if (call.failed()) return call.status();
  const float* from = states_of(const_cast<void*>(later), call).data;
  each_states(call, problem->states, [&](const core::Problem& row, const core::Options& options) {
    for (ptrdiff_t i = 0; i < ptrdiff_t(row.queries) * row.query_heads; ++i, from += options.states.head_stride) {
      call.arithmetic->merge_states(options.states.data + i * options.states.head_stride, from, row.value_dim);
    }
    set_next_key(call, row, options, {0, 1}, int(end));
  });
  return ATTEND_OK;
}

}  // extern "C"
