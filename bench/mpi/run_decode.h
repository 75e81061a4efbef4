// What the run of a decode and the measured parameters of its model share.
#pragma once

#include <algorithm>
#include <vector>

#include "attend_mpi.h"
#include "runs.h"

namespace distributed {

// The queries of a step, one unless there are more, their output and states.
struct Queries {
  explicit Queries(int tokens, int nodes, int count_ = 1) : count(std::size_t(count_)), p(problem_of(count_, tokens)) {
    p.state_nodes = nodes;
    p.query.data = query.data(), p.output.data = output.data(), p.lse.data = lse();
    states = Memory(attend_state_size(&p));
  }
  void choose_query(int step) { attend_test::Random(std::uint64_t(step) + 1).fill(query.of<float>(), count * query_row, 2.0f); }

  // The problem of keys up to `end` of those tokens, with states or, if they are all, without.
  attend_problem over(Tokens& tokens, int end, bool with_states) {
    attend_problem q = p;
    q.keys = end;
    tokens.set(q);
    if (!with_states) return q.state_nodes = ATTEND_DEFAULT_STATE_NODES, q;
    q.states = states.data(), q.first_key = tokens.range.first;
    return q;
  }
  void run(const attend_problem& q) {
    void* const memory = work.grown(attend_workspace_size(&q));
    must(attend_check(&q));
    must(attend_run(&q, memory, work.size()));
  }
  void take(Tokens& tokens, int end) {
    attend_problem q = over(tokens, end, true);
    const bool has_keys = tokens.range.first < end;
    if (!has_keys) q.first_key = 0;
    must(attend_begin(&q));
    if (has_keys) run(q);
  }
  void finish(int keys) {
    attend_problem q = p;
    q.states = states.data(), q.keys = keys;
    must(attend_finish(&q));
  }

  // Output and log-sum-exp lie side by side, to be compared at once.
  float* lse() { return output.of<float>() + count * query_row; }

  std::size_t count;
  attend_problem p;
  Memory query{count * query_row * sizeof(float)}, output{count * (query_row + query_heads) * sizeof(float)}, states, work;
};

}  // namespace distributed
