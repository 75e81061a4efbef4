// Attention in integers: which kernels compute it; in parts, with its keys cut at segments, and in steps.
#include "portable.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RunIntegers {
  static constexpr auto function = &Backend::run_integers;
};

template <class Backend>
struct RunIntegerOptions {
  static constexpr auto function = &Backend::run_integer_options;
};

}  // namespace

void run(const IntegerProblem& problem) { ActiveIntegerBackend::call<RunIntegers>(problem); }

void run(const IntegerProblem& problem, const IntegerOptions& options) {
  ActiveIntegerOptionBackend::call<RunIntegerOptions>(problem, options);
}

void run_part(const IntegerProblem& problem, int part, int parts) { run_units(problem, part, parts); }

void run_part(const IntegerProblem& problem, const IntegerOptions& options, int part, int parts) {
  run_units(problem, options, part, parts);
}

KeyUnits key_units(const IntegerProblem& problem, const IntegerOptions& options, int part, int parts) {
  return segment_units(problem, options, part, parts);
}

void run_key_part(const IntegerProblem& problem, const IntegerOptions& options, int part, int parts, int32_t* partials) {
  IntegerOptions of_parts = options;  // a unit has the first keys alone
  of_parts.paging.ring_tokens = keys_taken(options.paging, problem.keys);
  run_segments(problem, of_parts, part, parts, partials);
}

void add_key_parts(const IntegerProblem& problem, const IntegerOptions& options, const int32_t* partials) {
  const int group = problem.query_heads / problem.kv_heads, segments = visible_segments(problem, options).count();
  const ptrdiff_t row = partial_row_floats(problem.value_dim), apart = row * group * problem.queries;
  int32_t* const total = static_cast<int32_t*>(problem.scratch);
  for (int kv_head = 0; kv_head < problem.kv_heads; ++kv_head, partials += apart * (segments - 1)) {
    for (int i = 0; i < problem.queries * group; ++i, partials += row) {
      IntegerSoftmaxState state = {lowest_exponent, 0};
      for (int c = 0; c < problem.value_dim; ++c) total[c] = 0;
      for (int segment = 0; segment < segments; ++segment) {
        const int32_t* const kept = partials + segment * apart;
        add_segment_sums(state, total, {kept[problem.value_dim], uint32_t(kept[problem.value_dim + 1])}, kept,
                         problem.value_dim);
      }
      store_integer_row<IntegerScalar>(problem, options, state, total, i / group, kv_head * group + i % group);
    }
  }
}

void finish(const IntegerProblem& problem, const IntegerOptions& options) {
  int32_t* const sums = static_cast<int32_t*>(problem.scratch);
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const IntegerRowState row(element(options.states, token, head), problem.value_dim);
      IntegerSoftmaxState state = row.total_state();
      for (int c = 0; c < problem.value_dim; ++c) sums[c] = row.total()[c];
      add_segment_sums(state, sums, row.segment_state(), row.segment(), problem.value_dim);
      store_integer_row<IntegerScalar>(problem, options, state, sums, token, head);
    }
  }
}

void merge(int32_t* states, const int32_t* later, int rows, int value_dim) {
  for (int r = 0; r < rows; ++r) {
    const ptrdiff_t at = r * ptrdiff_t(integer_state_numbers(value_dim));
    const IntegerRowState row(states + at, value_dim), added(const_cast<int32_t*>(later + at), value_dim);  // only read
    IntegerSoftmaxState total = row.total_state();
    add_segment_sums(total, row.total(), row.segment_state(), row.segment(), value_dim);
    add_segment_sums(total, row.total(), added.total_state(), added.total(), value_dim);
    for (int c = 0; c < value_dim; ++c) row.segment()[c] = added.segment()[c];
    row.set(added.segment_state(), total);
  }
}

}  // namespace core
}  // namespace attend
