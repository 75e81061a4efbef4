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
  for_each_piece(problem, part, parts, token_work, [&](const Piece& piece) {
    Problem of_piece = problem;
    take_piece(of_piece, piece);
    run(of_piece);
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
    Problem of_unit = problem;
    of_unit.output = {partials, 0, 0};  // stays there, whichever head is taken
    take_piece(of_unit, {0, problem.queries, head, 1, head * group, group});
    take_segment(of_unit, unit - head * segments);
    of_unit.output = {partials + unit * unit_floats, ptrdiff_t(group) * row_floats, row_floats};
    sum_segment(of_unit);
  }
}

namespace {

template <class Call>
void each_piece(const Problem& problem, const Options& options, int part, int parts, Call call) {
  const auto token_work = [&](int token) {
    const Visibility visibility = visibility_of(problem, options, token);
    return token_overhead + (visibility.end - visibility.first) + visibility.sink_tokens;
  };
  for_each_piece(problem, part, parts, token_work, call);
}

// Calls with the state of each row of a part.
template <class Call>
void each_state(const Problem& problem, const Options& options, int part, int parts, Call call) {
  each_piece(problem, options, part, parts, [&](const Piece& piece) {
    for (int token = piece.token; token < piece.token + piece.tokens; ++token) {
      for (int head = 0; head < piece.query_heads; ++head) call(element(options.states, token, piece.query_head + head));
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
  each_piece(problem, options, part, parts, [&](const Piece& piece) {
    Problem of_piece = problem;
    Options its = options;
    take_piece(of_piece, piece, formats);
    take_piece_of_options(its, piece);
    run(of_piece, its);
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
    const Piece piece = {0, problem.queries, head, 1, head * group, group};
    Problem of_unit = problem;
    Options its = options;
    take_piece(of_unit, piece, formats_of(options));
    take_piece_of_options(its, piece);
    take_segment(of_unit, its, seen.segment(unit - head * segments));
    of_unit.output = {partials + unit * unit_floats, ptrdiff_t(group) * row_floats, row_floats};
    run(of_unit, its);
  }
}

void add_key_parts(const Problem& problem, const Options& options, const float* partials) {
  ActiveBackend::call<CombineOptions>(problem, options, partials);
}

}  // namespace core
}  // namespace attend
