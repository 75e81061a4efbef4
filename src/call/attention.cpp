// Attention with options: which backend computes it; what states become. Attention in parts of about the same work, and with
// its keys cut at segments: smaller problems, made by moving pointers.
#include "portable.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RunOptions {
  static constexpr auto function = &Backend::run_options;
};

template <class Backend>
struct CombineOptions {
  static constexpr auto function = &Backend::combine_options;
};

}  // namespace

void run(const Problem& problem, const Options& options) { ActiveOptionBackend::call<RunOptions>(problem, options); }

void begin(const Problem& problem, const Options& options) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      RowState(element(options.states, token, head), problem.value_dim).begin<Scalar>();
    }
  }
}

void finish(const Problem& problem, const Options& options) {
  for (int head = 0; head < problem.query_heads; ++head) {
    for (int token = 0; token < problem.queries; ++token) {
      const RowState state(element(options.states, token, head), problem.value_dim);
      float lane_sums[panel_keys];
      copy_row<Scalar>(state.lane_sums(), panel_keys, lane_sums);
      const float factor = rescale_factor<Scalar>(state.total_max(), state.max());
      const float sum = Scalar::fma(state.total_sum(), factor, add_lanes<Scalar>(lane_sums));
      const Denominator all = denominator_of(options, head, sum, state.max());
      epilogue_lse(options, token, head, all);
      ptrdiff_t at = token * problem.output.token_stride + head * problem.output.head_stride;
      for (int c = 0; c < problem.value_dim; ++c, ++at) {
        const float open = Scalar::add(state.sums()[c], state.chain()[c]);
        const float total = Scalar::fma(state.total()[c], factor, open);
        const float number = magnitude(all.sum) == 0 ? 0.0f : Scalar::mul(total, all.output);
        narrow_row(options.output_format, &number, 1, moved(problem.output.data, at, options.output_format));
      }
    }
  }
}

void merge(float* states, const float* later, int rows, int value_dim) {
  const ptrdiff_t floats = ptrdiff_t(state_floats(value_dim));
  for (int r = 0; r < rows; ++r, states += floats, later += floats) {
    const RowState state(states, value_dim), next(const_cast<float*>(later), value_dim);  // next is only read
    state.end_chain<Scalar>();
    state.end_segment<Scalar>();
    const float max = Scalar::less(state.max(), next.max()) ? next.max() : state.max();
    const float before = rescale_factor<Scalar>(state.total_max(), max), after = rescale_factor<Scalar>(next.total_max(), max);
    const float open = rescale_factor<Scalar>(next.max(), max);
    state.total_sum() = Scalar::fma(state.total_sum(), before, Scalar::mul(next.total_sum(), after));
    multiply_row<Scalar>(state.total(), value_dim, before, state.total());
    multiply_add_row<Scalar>(next.total(), value_dim, after, state.total(), state.total());
    multiply_row<Scalar>(next.lane_sums(), panel_keys, open, state.lane_sums());
    multiply_row<Scalar>(next.chain(), value_dim, open, state.chain());
    multiply_row<Scalar>(next.sums(), value_dim, open, state.sums());
    state.max() = state.total_max() = max;
  }
}

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

void run_part(const Problem& problem, int part, int parts) { run_units(problem, part, parts); }

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
    unit_problem.output.data = nullptr;
    take_unit(unit_problem, {0, problem.queries, head, 1, head * group, group}, number_bytes(problem));
    take_segment(unit_problem, unit - head * segments);
    unit_problem.output = {partials + unit * unit_floats, ptrdiff_t(group) * row_floats, row_floats};
    sum_segment(unit_problem);
  }
}

void run_part(const Problem& problem, const Options& options, int part, int parts) { run_units(problem, options, part, parts); }

KeyUnits key_units(const Problem& problem, const Options& options, int part, int parts) {
  return segment_units(problem, options, part, parts);
}

void run_key_part(const Problem& problem, const Options& options, int part, int parts, float* partials) {
  run_segments(problem, options, part, parts, partials);
}

void add_key_parts(const Problem& problem, const Options& options, const float* partials) {
  ActiveOptionBackend::call<CombineOptions>(problem, options, partials);
}

}  // namespace core
}  // namespace attend
