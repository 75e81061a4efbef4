// Attention in parts of about the same work, and with its keys cut at segments: smaller problems, made by moving pointers. The
// same with options.
#include "portable.h"

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

namespace {

// Leaves the keys of one segment, of which the call makes sums. Positions stay what they are.
void take_segment(Problem& problem, Options& options, int segment) {
  options.first_key = segment * segment_keys;
  problem.keys = options.first_key + at_most(problem.keys - options.first_key, segment_keys);
  options.partial = true;
}

template <class Backend>
struct CombineOptions {
  static constexpr auto function = &Backend::combine_options;
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
  ActiveOptionBackend::call<CombineOptions>(problem, options, partials);
}

}  // namespace core
}  // namespace attend
