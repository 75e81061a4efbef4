// Calls with options: which backend computes them; what states become; how much scratch they take.
#include "backends.h"

#include "finish.h"
#include "option_state.h"

namespace attend {
namespace core {
namespace {

using RunOptions = void (*)(const Problem&, const Options&);

// In the order of the table in dispatch.cpp.
constexpr RunOptions run_options[] = {
#if ATTEND_NEON
    run_options_neon,
#elif ATTEND_HELIUM
    run_options_helium,
#else
#if ATTEND_X86
    run_options_avx512,
    run_options_avx2,
#endif
    run_options_scalar,
#endif
};

constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

}  // namespace

size_t option_scratch_floats(int row_block, int key_block, int head_dim, int value_dim) {
  const size_t rows = size_t(row_block), keys = size_t(key_block), head = size_t(head_dim), value = size_t(value_dim);
  // option_small.h, which is on every target: a state, scores, the query, a group of keys and a value.
  const size_t small = state_floats(value_dim) + size_t(chain_keys) + head + head * size_t(panel_keys) + value;
  if (config::small) return small;
  const size_t scores = row_block == 1 ? keys : (rows < size_t(config::tile_rows) ? rows : size_t(config::tile_rows)) * size_t(config::score_keys);
  const size_t row = head + 3 * value + size_t(panel_keys) + 2 + size_t(config::row_state) + 4;
  return larger(small, keys * (head + value + 2) + head * size_t(panel_keys) + scores + rows * row);
}

void run(const Problem& problem, const Options& options) { run_options[active_index()](problem, options); }

void finish(const Problem& problem, const Options& options) {
  for (int head = 0; head < problem.query_heads; ++head) {
    for (int token = 0; token < problem.queries; ++token) {
      copy_row<Scalar>(element(options.states, token, head), int(state_floats(problem.value_dim)), problem.scratch);
      const RowState state(problem.scratch, problem.value_dim);
      state.end_chain<Scalar>();
      state.end_segment<Scalar>();
      const float* sink = options.sinks == nullptr ? nullptr : options.sinks + head;
      finish_row<Scalar>(problem, options, token, head, state.total(), denominator_of(state.total_sum(), state.max(), sink));
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
    const auto factor = [max](float from) { return Scalar::scale_by_power(1.0f, Scalar::sub(from, max)); };
    const float before = factor(state.total_max()), after = factor(next.total_max()), open = factor(next.max());
    state.total_sum() = Scalar::fma(state.total_sum(), before, Scalar::mul(next.total_sum(), after));
    multiply_row<Scalar>(state.total(), value_dim, before, state.total());
    multiply_add_row<Scalar>(next.total(), value_dim, after, state.total(), state.total());
    multiply_row<Scalar>(next.lane_sums(), panel_keys, open, state.lane_sums());
    multiply_row<Scalar>(next.chain(), value_dim, open, state.chain());
    multiply_row<Scalar>(next.sums(), value_dim, open, state.sums());
    state.max() = state.total_max() = max;
  }
}

}  // namespace core
}  // namespace attend
