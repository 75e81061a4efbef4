// Faults in calls of attend_finish and attend_merge, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "malformed.h"

namespace attend_test {

struct StateCall {
  attend_problem* problem;
  const void* later;
};

enum StateUse { finish = 1, merge = 2 };

struct StateFault {
  attend_status status;
  int uses;
  void (*make)(World&, StateCall&);
};

inline unsigned char* more_bytes(attend_problem* problem) { return static_cast<unsigned char*>(static_cast<void*>(problem)); }

inline const std::vector<StateFault>& state_faults() {
  static const std::vector<StateFault> all = {
      {ATTEND_OK, finish | merge, [](World&, StateCall&) {}},
      {ATTEND_NO_PROBLEM, finish | merge, [](World&, StateCall& c) { c.problem = nullptr; }},
      {ATTEND_BAD_STRUCT_SIZE, finish | merge, [](World&, StateCall& c) { c.problem->size = 3; }},
      {ATTEND_NEWER_STRUCT, finish | merge,
       [](World&, StateCall& c) { more_bytes(c.problem)[sizeof(attend_problem)] = 1, c.problem->size += 8; }},
      {ATTEND_UNKNOWN_OPTION, finish | merge, [](World&, StateCall& c) { c.problem->options = 1u << 31; }},
      {ATTEND_BAD_OUTPUT_FORMAT, finish | merge, [](World&, StateCall& c) { c.problem->output_format = ATTEND_INT8; }},
      {ATTEND_BAD_BATCH, finish | merge, [](World&, StateCall& c) { c.problem->batch = 0; }},
      {ATTEND_BAD_VALUE_DIM, finish | merge, [](World&, StateCall& c) { c.problem->value_dim = -1; }},
      {ATTEND_NO_OUTPUT, finish, [](World&, StateCall& c) { c.problem->output.data = nullptr; }},
      {ATTEND_UNALIGNED_OUTPUT, finish, [](World&, StateCall& c) { unalign_pointer(c.problem->output.data); }},
      {ATTEND_HUGE_OUTPUT, finish, [](World&, StateCall& c) { c.problem->output.head_stride = PTRDIFF_MIN; }},
      {ATTEND_BAD_OUTPUT_STRIDES, finish, [](World&, StateCall& c) { c.problem->output.token_stride = 0; }},
      {ATTEND_OUTPUT_OVERLAPS_PROBLEM, finish, [](World&, StateCall& c) { c.problem->output.data = &c.problem->cache; }},
      {ATTEND_UNALIGNED_SINKS, finish, [](World&, StateCall& c) { unalign_pointer(c.problem->sinks); }},
      {ATTEND_UNALIGNED_LSE, finish, [](World&, StateCall& c) { unalign_pointer(c.problem->lse.data); }},
      {ATTEND_HUGE_LSE, finish, [](World&, StateCall& c) { c.problem->lse.head_stride = PTRDIFF_MAX; }},
      {ATTEND_BAD_LSE_STRIDES, finish, [](World&, StateCall& c) { c.problem->lse.token_stride = 0; }},
      {ATTEND_NO_STATES, finish | merge, [](World&, StateCall& c) { c.problem->states = nullptr; }},
      {ATTEND_UNALIGNED_STATES, finish | merge, [](World&, StateCall& c) { unalign_pointer(c.problem->states); }},
      {ATTEND_HUGE_STATES, finish | merge, [](World&, StateCall& c) { c.problem->states = last_float(); }},
      {ATTEND_NO_LATER_STATES, merge, [](World&, StateCall& c) { c.later = nullptr; }},
      {ATTEND_UNALIGNED_LATER_STATES, merge, [](World&, StateCall& c) { unalign_pointer(c.later); }},
      {ATTEND_HUGE_LATER_STATES, merge, [](World&, StateCall& c) { c.later = last_float(); }},
      {ATTEND_OUTPUT_OVERLAPS_OPTION, finish,
       [](World&, StateCall& c) { c.problem->sinks = static_cast<float*>(c.problem->output.data); }},
      {ATTEND_LSE_OVERLAPS_OUTPUT, finish, [](World&, StateCall& c) { c.problem->lse.data = c.problem->output.data; }},
      {ATTEND_LSE_OVERLAPS_INPUT, finish, [](World& w, StateCall& c) { c.problem->lse.data = w.options.data; }},
      {ATTEND_STATES_OVERLAP_OUTPUT, finish, [](World&, StateCall& c) { c.problem->states = c.problem->lse.data; }},
      {ATTEND_STATES_OVERLAP_INPUT, merge, [](World&, StateCall& c) { c.later = static_cast<float*>(c.problem->states) + 3; }},
  };
  return all;
}

// Makes the call with the fault; what is wrong with the answer, or nothing.
inline std::string wrong_answer(World& world, const StateFault& fault, StateUse use) {
  Random random(7);
  Call good = world.good(random, false);
  attend_problem& p = *good.problem;
  attend_problem_init(&p, sizeof p);  // neither query nor keys
  p.batch = 2, p.query_heads = p.kv_heads = 2, p.head_dim = 4, p.value_dim = 5, p.queries = 3;
  p.keys = 0;
  attend_problem_set_layout(&p, ATTEND_BATCH_HEAD_TOKEN_DIM);
  p.output.data = world.output.floats(), p.lse.data = world.lse.floats(), p.sinks = world.options.floats();
  p.states = world.states.floats();
  StateCall call = {&p, world.query.floats()};
  fault.make(world, call);
  const int status = use == finish ? attend_finish(call.problem) : attend_merge(call.problem, call.later);
  const bool touched = world.changed(), read = world.inputs_changed();
  world.restore();
  if (status != fault.status) return "status " + std::to_string(status) + " instead of " + std::to_string(fault.status);
  if (read || touched != (status == ATTEND_OK)) return "memory after status " + std::to_string(status);
  return "";
}

}  // namespace attend_test
