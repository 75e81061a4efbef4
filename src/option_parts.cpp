// Calls with options in parts of about the same work.
#include "attention/option_pieces.h"
#include "attention/row_state.h"
#include "attention/visibility.h"
#include "backends.h"

namespace attend {
namespace core {
namespace {

template <class Call>
void each_unit(const Problem& problem, const Options& options, int part, int parts, Call call) {
  const auto token_work = [&](int token) {
    const Visibility visibility = visibility_of(problem, options, token);
    return token_overhead + (visibility.end - visibility.first) + visibility.sink_tokens;
  };
  for_each_unit(problem, part, parts, token_work, call);
}

// Calls with the state of each row of a part.
template <class Call>
void each_state(const Problem& problem, const Options& options, int part, int parts, Call call) {
  each_unit(problem, options, part, parts, [&](const WorkUnit& work_unit) {
    for (int token = work_unit.token; token < work_unit.token + work_unit.tokens; ++token) {
      for (int head = 0; head < work_unit.query_heads; ++head)
        call(element(options.states, token, work_unit.query_head + head));
    }
  });
}

}  // namespace

void set_next_key(const Problem& problem, const Options& options, int part, int parts, int key) {
  each_state(problem, options, part, parts,
             [&](float* state) { __builtin_memcpy(&RowState(state, problem.value_dim).next_key(), &key, sizeof key); });
}

bool have_next_key(const Problem& problem, const Options& options, int part, int parts, int key) {
  bool all = true;
  each_state(problem, options, part, parts, [&](const float* state) { all = all && next_key(state) == key; });
  return all;
}

int next_key(const float* state) {
  int key;
  __builtin_memcpy(&key, &RowState(const_cast<float*>(state), 0).next_key(), sizeof key);  // only read
  return key;
}

void run_part(const Problem& problem, const Options& options, int part, int parts) {
  const Formats formats = formats_of(options);
  each_unit(problem, options, part, parts, [&](const WorkUnit& work_unit) {
    Problem unit_problem = problem;
    Options unit_options = options;
    take_unit(unit_problem, work_unit, formats);
    take_unit_of_options(unit_options, work_unit);
    run(unit_problem, unit_options);
  });
}

}  // namespace core
}  // namespace attend
