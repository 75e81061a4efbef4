// Attention with options: which backend computes it; what states become.
#include "portable.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RunOptions {
  static constexpr auto function = &Backend::run_options;
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

#if !ATTEND_EMBEDDED

// A call over a cache of one format is any call with options here; embedded processors have code for each
// (attention/embedded_cache_calls.h).
template <Format format, bool one_row>
void run_cache(const Problem& problem, const Options& options) {
  run(problem, options);
}

template void run_cache<Format::float32, false>(const Problem&, const Options&);
template void run_cache<Format::float32, true>(const Problem&, const Options&);
template void run_cache<Format::float16, false>(const Problem&, const Options&);
template void run_cache<Format::float16, true>(const Problem&, const Options&);
template void run_cache<Format::bfloat16, false>(const Problem&, const Options&);
template void run_cache<Format::bfloat16, true>(const Problem&, const Options&);
template void run_cache<Format::int8, false>(const Problem&, const Options&);
template void run_cache<Format::int8, true>(const Problem&, const Options&);

#endif

}  // namespace core
}  // namespace attend
