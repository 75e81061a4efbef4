// A problem in parts of about the same work: smaller problems, made by moving pointers.
#include "attention/parts.h"
#include "attention/visibility.h"
#include "backends.h"

namespace attend {
namespace core {
namespace {

// Leaves the keys of one segment: of the first, or of one that some token sees. Then the difference cannot overflow where the
// offset counts.
void take_segment(Problem& problem, int segment) {
  const int first = segment * segment_keys;
  problem.key.data += first * (problem.key_panels ? problem.head_dim : problem.key.token_stride);
  problem.value.data += first * problem.value.token_stride;
  if (problem.causal) problem.offset -= first;
  problem.keys = problem.keys - first < segment_keys ? problem.keys - first : segment_keys;
}

}  // namespace

void run_part(const Problem& problem, int part, int parts) {
  const auto token_work = [&](int token) { return token_overhead + visible_keys(problem, token); };
  for_each_unit(problem, part, parts, token_work, [&](const WorkUnit& work_unit) {
    Problem unit_problem = problem;
    take_unit(unit_problem, work_unit);
    run(unit_problem);
  });
}

KeyUnits key_units(const Problem& problem, int part, int parts) {
  return units_of_part(problem.kv_heads * visible_segments(problem), part, parts);
}

void run_key_part(const Problem& problem, int part, int parts, float* partials) {
  const int segments = visible_segments(problem);
  const int group = problem.query_heads / problem.kv_heads, row_floats = partial_row_floats(problem.value_dim);
  const ptrdiff_t unit_floats = ptrdiff_t(group) * problem.queries * row_floats;
  const KeyUnits units = key_units(problem, part, parts);
  for (int unit = units.first; unit < units.end; ++unit) {
    const int head = unit / segments;
    Problem unit_problem = problem;
    unit_problem.output = {partials, 0, 0};  // stays there, whichever head is taken
    take_unit(unit_problem, {0, problem.queries, head, 1, head * group, group});
    take_segment(unit_problem, unit - head * segments);
    unit_problem.output = {partials + unit * unit_floats, ptrdiff_t(group) * row_floats, row_floats};
    sum_segment(unit_problem);
  }
}

}  // namespace core
}  // namespace attend
