// The states of calls, which anybody may have written: what is checked of them, and how to go through them.
#pragma once

#include "surface.h"

#include "../call/portable.h"

namespace attend::c_surface {

// The bytes of all states of a call whose rows were checked; 0 where the checks failed, or where they are too many to count.
size_t state_bytes(const Call& call);

// States that were begun, for the same extents.
void check_begun(Call& call, const void* states, attend_argument argument);

void write_head(const Call& call, void* states);

// The segments that a state says it has been through.
core::SegmentSet segments_of(const Call& call, const float* state);

// The first state of all, which the others must be like, and the key before which they stopped. Without any, they are new.
struct Stopped {
  const float* state;
  int next;
};
Stopped check_stopped(Call& call, const void* states, attend_argument argument);

// Those that a part of a call goes on with; the other parts may be under way.
struct StatesOfPart {
  Call& call;
  const core::SeenKeys& seen;
  const float* first;  // which the others are like; null at first
  // One that stopped at that key, with room for the nodes of the call.
  void check(const float* state, int first_key);
};

namespace {

// Each state of those of a part. Its next key is its owner's number, which the arithmetic leaves to its caller.
template <class Visit>
void each_state(const core::Problem& problem, const core::Options& options, const Parts& cut, Visit visit) {
  each_unit(problem, options, int(cut.part), int(cut.parts), [&](const WorkUnit& unit) {
    for (int token = unit.token; token < unit.token + unit.tokens; ++token) {
      for (int head = unit.query_head; head < unit.query_head + unit.query_heads; ++head) {
        visit(element<float>(options.states, token, head));
      }
    }
  });
}
inline void set_next_key(float* state, int key) { ATTEND_MEMCPY(state + core::state_owner, &key, sizeof key); }

}  // namespace
}  // namespace attend::c_surface
