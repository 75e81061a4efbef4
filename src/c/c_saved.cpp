// The states of the C surface as bytes (include/attend/core/saved.h).
#include "../../include/attend/core/saved.h"

#include "states.h"

namespace attend::c_surface {
namespace {

constexpr int byte_bits = 8;

// The states in memory that exists, so that neither rows nor words can be too many to count; of states that are only asked
// about, state_bytes is not 0.
ptrdiff_t rows_of(const Call& call) { return call.batch * call.first.queries * call.first.query_heads; }
size_t saved_bytes(Call& call, int nodes, bool is_open) {
  const size_t words = core::saved_words(call.arithmetic->integers, rows_of(call), call.first.value_dim, nodes, is_open);
  call.require(uint64_t(words) < uint64_t(1) << 32, ATTEND_TOO_LARGE, ATTEND_ARG_STATES);
  return call.failed() ? 0 : words * 4;
}

}  // namespace
}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

size_t attend_saved_size(const attend_problem* problem) {
  Call call;
  check_rows(call, problem);
  return state_bytes(call) == 0 ? 0 : saved_bytes(call, call.state_nodes, true);
}

attend_status attend_save(const attend_problem* problem, void* bytes, size_t size, size_t* result) {
  Call call;
  check_rows(call, problem);
  if (call.failed()) return call.status();
  call.read(check_states(call, problem->states, ATTEND_ARG_STATES));
  const Stopped stopped = check_stopped(call, problem->states, ATTEND_ARG_STATES);
  if (call.failed()) return call.status();
  const int nodes = stopped.state == nullptr ? 0 : segments_of(call, stopped.state).count;
  const size_t needed = saved_bytes(call, nodes, stopped.next % segment_keys != 0);
  call.write(call.array(bytes, ptrdiff_t(needed), byte_bits, ATTEND_ARG_BYTES), ATTEND_ARG_BYTES);
  call.require(size >= needed, ATTEND_TOO_SMALL, ATTEND_ARG_SIZE);
  if (result != nullptr) call.write(call.structs(result, 1, ATTEND_ARG_RESULT), ATTEND_ARG_RESULT);
  if (call.failed()) return call.status();
  core::SavedHead head = {};
  head.batch = int(call.batch), head.queries = call.first.queries, head.query_heads = call.first.query_heads;
  head.value_dim = call.first.value_dim, head.next_key = stopped.next;
  const void* const states = states_of(problem->states, call).data;
  uint8_t* const to = static_cast<uint8_t*>(bytes);
  call.arithmetic->integers ? core::save(head, static_cast<const int32_t*>(states), call.state_nodes, to)
                            : core::save(head, static_cast<const float*>(states), call.state_nodes, to);
  if (result != nullptr) *result = needed;
  return ATTEND_OK;
}

attend_status attend_load(const attend_problem* problem, const void* bytes, size_t size) {
  Call call;
  check_rows(call, problem);
  if (call.failed()) return call.status();
  call.require(size <= PTRDIFF_MAX, ATTEND_TOO_LARGE, ATTEND_ARG_SIZE);
  call.require(bytes != nullptr, ATTEND_MISSING, ATTEND_ARG_BYTES);
  if (call.failed()) return call.status();
  call.read(call.array(bytes, ptrdiff_t(size), byte_bits, ATTEND_ARG_BYTES));
  call.write(check_states(call, problem->states, ATTEND_ARG_STATES), ATTEND_ARG_STATES);
  if (call.failed()) return call.status();
  const uint8_t* const from = static_cast<const uint8_t*>(bytes);
  const core::Problem& first = call.first;
  core::SavedHead head;
  const core::Loaded loaded = core::read_head(from, size, head);
  call.require(loaded != core::Loaded::other_bits, ATTEND_OTHER_BITS, ATTEND_ARG_BYTES);
  call.require(loaded == core::Loaded::ok && head.next_key <= ATTEND_MAX_TOKENS, ATTEND_CORRUPT, ATTEND_ARG_BYTES);
  if (call.failed()) return call.status();
  const bool same = head.batch == call.batch && head.queries == first.queries && head.query_heads == first.query_heads &&
                    head.value_dim == first.value_dim && head.arithmetic == uint32_t(call.arithmetic->integers);
  call.require(same, ATTEND_MISMATCH, ATTEND_ARG_BYTES);
  call.require(head.nodes <= call.state_nodes, ATTEND_TOO_SMALL, ATTEND_ARG_STATE_NODES);
  if (call.failed()) return call.status();
  write_head(call, problem->states);
  const core::Tensor<void> states = states_of(problem->states, call);
  call.arithmetic->integers ? core::load(head, from, static_cast<int32_t*>(states.data), call.state_nodes)
                            : core::load(head, from, static_cast<float*>(states.data), call.state_nodes);
  for (ptrdiff_t row = 0; row < rows_of(call); ++row)
    set_next_key(static_cast<float*>(states.data) + row * states.head_stride, head.next_key);
  return ATTEND_OK;
}

}  // extern "C"
