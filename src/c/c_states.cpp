// The states of the C surface: begun, finished and merged.
//
// Their memory is a head, which attend_begin writes, and then the states of all rows. Each row's state holds its next key,
// since threads with a part each move theirs on at different times.
#include "states.h"

#include "../call/portable.h"

namespace attend::c_surface {
namespace {

constexpr uint32_t state_magic = 0x32537441;  // "AtS2"

struct StateHead {
  int32_t fields[5];  // batch, queries, query_heads, value_dim, state_nodes
  uint32_t check;     // of these
  uint32_t nothing[10];
};
constexpr ptrdiff_t head_floats = sizeof(StateHead) / sizeof(float);
static_assert(sizeof(StateHead) == 64, "as the C header states");

// Those in floats and in integers are not the same.
uint32_t sum_of(const Call& call, const StateHead& head) {
  return check_sum(state_magic ^ uint32_t(call.arithmetic->integers), head.fields, 5);
}
StateHead head_of(const Call& call) {
  const core::Problem& first = call.first;
  StateHead head = {{int32_t(call.batch), first.queries, first.query_heads, first.value_dim, call.state_nodes}, 0, {}};
  head.check = sum_of(call, head);
  return head;
}

// Numbers of a state, of all states, and of the memory that has them too; as many as can be where they cannot be counted.
ptrdiff_t node_numbers_of(const Call& call) { return ptrdiff_t(call.first.value_dim) + node_numbers; }
ptrdiff_t open_numbers(const Call& call) {
  return call.arithmetic->state_numbers + ptrdiff_t(call.arithmetic->state_widths) * call.first.value_dim;
}
ptrdiff_t state_numbers(const Call& call) {
  ptrdiff_t numbers;
  const bool counted = !ATTEND_MUL_OVERFLOW(call.state_nodes, node_numbers_of(call), &numbers) &&
                       !ATTEND_ADD_OVERFLOW(numbers, open_numbers(call), &numbers);
  return counted ? numbers : PTRDIFF_MAX;
}
ptrdiff_t numbers_of_states(const Call& call) {
  ptrdiff_t numbers;
  const bool counted = !ATTEND_MUL_OVERFLOW(call.batch, call.first.queries, &numbers) &&
                       !ATTEND_MUL_OVERFLOW(numbers, call.first.query_heads, &numbers) &&
                       !ATTEND_MUL_OVERFLOW(numbers, state_numbers(call), &numbers);
  return counted ? numbers : PTRDIFF_MAX;
}
ptrdiff_t state_memory_numbers(const Call& call) {
  ptrdiff_t numbers = numbers_of_states(call);
  const ptrdiff_t others = head_floats + (call.arithmetic->integers ? call.first.value_dim : 0);
  return ATTEND_ADD_OVERFLOW(numbers, others, &numbers) ? PTRDIFF_MAX : numbers;
}

// Calls with the states of each batch row, as a problem of the core.
template <class Row>
void each_states(const Call& call, const void* states, Row visit) {
  core::Problem rows = call.first;
  rows.kv_heads = rows.query_heads;
  core::Options options;
  options.states = states_of(const_cast<void*>(states), call);
  for (ptrdiff_t row = 0; call.first.queries > 0 && row < call.batch; ++row) {
    visit(rows, options);
    core::move_queries(options, call.first.queries, 0);
  }
}

int next_key_of(const float* state) { return bits_to<int>(state[core::state_owner]); }

// The most nodes that a state has while it goes on from one key to another, over keys that queries see; -1 where it is no state
// that stopped at the first.
int most_nodes(const Call& call, const float* state, const core::SeenKeys& seen, int from, int to) {
  constexpr int most_number = 2 * (ATTEND_MAX_TOKENS / segment_keys);
  const core::SegmentSet set = segments_of(call, state);
  if (set.count < 0 || set.count > call.state_nodes) return -1;
  int before = 0, end = 0;  // the node before and where it ends: two that could be joined are none
  for (int n = 0; n < set.count; ++n) {
    const int number = set.number(n);
    if (number < 1 || number > most_number) return -1;
    const core::SegmentNode node = core::node_of(number);
    if (node.first < end || core::partner_of(number) == before) return -1;
    before = number, end = node.first + node.size;
  }
  return end > segment_of(from) ? -1 : set.most_with(seen, segment_of(from), segment_of(to));
}
// Whether a state has been through the same keys as another.
bool is_like(const Call& call, const float* state, const float* other) {
  const core::SegmentSet set = segments_of(call, state), same = segments_of(call, other);
  bool all = set.count == same.count && next_key_of(state) == next_key_of(other);
  for (int n = 0; all && n < set.count; ++n) all = set.number(n) == same.number(n);
  return all;
}

}  // namespace

core::SegmentSet segments_of(const Call& call, const float* state) {
  return {bits_to<int32_t>(*state), state + open_numbers(call) + node_numbers_of(call) - 1, node_numbers_of(call)};
}

Stopped check_stopped(Call& call, const void* states, attend_argument argument) {
  check_begun(call, states, argument);
  if (call.failed() || call.batch == 0 || call.first.queries == 0) return {nullptr, 0};
  const float* const first = static_cast<const float*>(states_of(const_cast<void*>(states), call).data);
  const int next = next_key_of(first);
  call.require(next >= 0 && next <= ATTEND_MAX_TOKENS, ATTEND_CORRUPT, argument);
  if (call.failed()) return {};
  call.require(most_nodes(call, first, {}, next, next) >= 0, ATTEND_CORRUPT, argument);
  each_states(call, states, [&](const core::Problem& problem, const core::Options& options) {
    each_state(problem, options, {0, 1}, [&](const float* state) {
      call.require(call.failed() || is_like(call, state, first), ATTEND_CORRUPT, argument);
    });
  });
  return {first, next};
}

namespace {

// States that have taken the keys of the problem, up to the last: all that queries see.
void check_all_taken(Call& call, const attend_problem& problem, CallOptions& options) {
  const bool nobody = call.batch == 0 || call.first.queries == 0;
  check_windows(call, problem, options.first);
  check_together(call, options.first);
  if (call.failed() || nobody) return;
  const Stopped stopped = check_stopped(call, problem.states, ATTEND_ARG_STATES);
  if (problem.cache != nullptr) check_cache(call, problem.cache);
  if (problem.cache != nullptr && !call.failed()) {
    check_cache_origin(call, problem);
    call.read(cache_range(*problem.cache));
  }
  // After merges, keys of other caches too may have been taken.
  const bool as_taken = problem.cache != nullptr && problem.keys != ATTEND_ALL_KEYS;
  const ptrdiff_t keys = as_taken ? problem.keys : check_key_count(call, problem);
  call.require(stopped.next == keys, ATTEND_MISMATCH, ATTEND_ARG_KEYS);
  if (call.failed()) return;
  call.first.keys = int(keys);
  call.first.causal = (problem.options & ATTEND_CAUSAL) != 0;
  check_position(call, problem);
  set_states(problem.states, call, options);
  if (call.failed()) return;
  const core::SeenKeys seen = call.arithmetic->options->seen_keys(call.first, options.first);
  const bool ends = problem.key_lengths != nullptr || core::has_own_keys(call.first);  // lengths say where keys end
  call.require(ends && segments_of(call, stopped.state).has_all(seen, int(keys)), ATTEND_MISMATCH, ATTEND_ARG_STATES);
}

}  // namespace

core::Tensor<void> states_of(void* states, const Call& call) {
  const ptrdiff_t state = state_numbers(call);
  return {static_cast<float*>(states) + head_floats, state * call.first.query_heads, state};
}

size_t state_bytes(const Call& call) {
  const ptrdiff_t numbers = call.failed() || call.arithmetic->options == nullptr ? 0 : state_memory_numbers(call);
  return numbers <= PTRDIFF_MAX / ptrdiff_t(sizeof(float)) ? size_t(numbers) * sizeof(float) : 0;
}

void set_states(void* states, const Call& call, CallOptions& options) {
  options.first.states = states_of(states, call);
  options.state_step = call.first.queries * options.first.states.token_stride * ptrdiff_t(sizeof(float));
}

Range check_states(Call& call, const void* states, attend_argument argument) {
  if (!call.failed()) call.require(call.arithmetic->options != nullptr, ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC);
  return call.array(states, state_memory_numbers(call), float_bits, argument);
}

void check_begun(Call& call, const void* states, attend_argument argument) {
  if (call.failed()) return;
  StateHead head;
  ATTEND_MEMCPY(&head, states, sizeof head);
  call.require(head.check == sum_of(call, head), ATTEND_CORRUPT, argument);
  call.require(head.check == head_of(call).check, ATTEND_MISMATCH, argument);
}

void write_head(const Call& call, void* states) {
  const StateHead head = head_of(call);
  ATTEND_MEMCPY(states, &head, sizeof head);
}

void StatesOfPart::check(const float* state, int first_key) {
  call.require(next_key_of(state) == first_key, ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY);
  if (call.failed()) return;
  if (first == nullptr) {
    first = state;
    const int most = most_nodes(call, state, seen, first_key, call.first.keys);
    call.require(most >= 0, ATTEND_CORRUPT, ATTEND_ARG_STATES);
    call.require(most <= call.state_nodes, ATTEND_TOO_SMALL, ATTEND_ARG_STATE_NODES);
  }
  call.require(call.failed() || is_like(call, state, first), ATTEND_CORRUPT, ATTEND_ARG_STATES);
}

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

size_t attend_state_size(const attend_problem* problem) {
  Call call;
  check_rows(call, problem);
  return state_bytes(call);
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
  write_head(call, problem->states);
  each_states(call, problem->states, [&](const core::Problem& row, const core::Options& options) {
    each_state(row, options, {0, 1}, [&](float* state) {
      call.arithmetic->options->begin_state(state, row.value_dim);
      set_next_key(state, int(first_key));
    });
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
  call.require(has_no_lists(*problem), ATTEND_CONFLICT, ATTEND_ARG_RANGES);
  check_all_taken(call, *problem, options);
  if (call.failed()) return call.status();
  float* const numbers = static_cast<float*>(problem->states) + head_floats + numbers_of_states(call);
  each_row(call, {0, 1}, [&](ptrdiff_t row, int, int) {
    call.arithmetic->options->finish_rows(call, *problem, call.problem_of_row(row), options_of_row(options, row), numbers);
  });
  return ATTEND_OK;
}

attend_status attend_merge(const attend_problem* problem, const void* later) {
  Call call;
  check_rows(call, problem);
  if (call.failed()) return call.status();
  call.read(check_states(call, later, ATTEND_ARG_LATER));
  call.write(check_states(call, problem->states, ATTEND_ARG_STATES), ATTEND_ARG_STATES);
  const Stopped here = check_stopped(call, problem->states, ATTEND_ARG_STATES);
  const Stopped there = check_stopped(call, later, ATTEND_ARG_LATER);
  if (call.failed() || here.state == nullptr) return call.status();
  const int value_dim = call.first.value_dim;
  const core::SegmentSet set = segments_of(call, here.state), added = segments_of(call, there.state);
  const int next = core::next_of_both(set, here.next, added, there.next);
  call.require(next >= 0, ATTEND_MISMATCH, ATTEND_ARG_LATER);
  call.require(set.count_with(added) <= call.state_nodes, ATTEND_TOO_SMALL, ATTEND_ARG_STATE_NODES);
  if (call.failed()) return call.status();
  const float* from = there.state;
  const bool takes_open = there.next % segment_keys != 0;
  each_states(call, problem->states, [&](const core::Problem& row, const core::Options& options) {
    each_state(row, options, {0, 1}, [&](float* state) {
      const ptrdiff_t at = state - here.state;
      call.arithmetic->options->merge(state, from + at, takes_open, 1, value_dim, call.state_nodes);
      set_next_key(state, next);
    });
  });
  return ATTEND_OK;
}

}  // extern "C"
