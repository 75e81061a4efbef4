// Calls with options whose keys are cut, at segments. Apart from option_parts.cpp, so that programs that cut other things hold
// none of it.
#include "attention/option_pieces.h"
#include "attention/visibility.h"
#include "backends.h"

namespace attend {
namespace core {
namespace {

// Leaves the keys of one segment, of which the call makes sums. Positions stay what they are.
void take_segment(Problem& problem, Options& options, int segment) {
  options.first_key = segment * segment_keys;
  problem.keys = options.first_key + at_most(problem.keys - options.first_key, segment_keys);
  options.partial = true;
}

template <class Backend>
struct CombineOptions {
  static constexpr auto function = &Entry<typename Backend::Combining>::combine_options;
};

}  // namespace

KeyUnits key_units(const Problem& problem, const Options& options, int part, int parts) {
  return units_of_part(problem.kv_heads * visible_segments(problem, options).count(), part, parts);
}

void run_key_part(const Problem& problem, const Options& options, int part, int parts, float* partials) {
  const VisibleSegments seen = visible_segments(problem, options);
  const int segments = seen.count(), group = problem.query_heads / problem.kv_heads;
  const int row_floats = partial_row_floats(problem.value_dim);
  const ptrdiff_t unit_floats = ptrdiff_t(group) * problem.queries * row_floats;
  const KeyUnits units = key_units(problem, options, part, parts);
  for (int unit = units.first; unit < units.end; ++unit) {
    const int head = unit / segments;
    const WorkUnit work_unit = {0, problem.queries, head, 1, head * group, group};
    Problem unit_problem = problem;
    Options unit_options = options;
    take_unit(unit_problem, work_unit, formats_of(options));
    take_unit_of_options(unit_options, work_unit);
    take_segment(unit_problem, unit_options, seen.segment(unit - head * segments));
    unit_problem.output = {partials + unit * unit_floats, ptrdiff_t(group) * row_floats, row_floats};
    run(unit_problem, unit_options);
  }
}

void add_key_parts(const Problem& problem, const Options& options, const float* partials) {
  ActiveBackend::call<CombineOptions>(problem, options, partials);
}

}  // namespace core
}  // namespace attend
