// Attention with options: which backend computes it; what states become. Attention in parts of about the same work, and with
// its keys cut at segments: smaller problems, made by moving pointers.
#include "portable.h"

namespace attend {
namespace core {
namespace {

ATTEND_OPERATION(RunOptions, run_options)

// Newton's iteration without divisions, y = y * (1.5 - n / 2 * y^2), begun within 4 % by halving the exponent. Its last step is
// from the exact remainder 1 - n * y^2 but for its own rounding, so that the result is the nearest float (tests go through
// all).
float nearest_scale(int head_dim) {
  const float n = float(head_dim), half = 0.5f * n;
  float y = bits_to<float>(0x5f375a86u - bits_to<uint32_t>(n) / 2);
  for (int step = 0; step < 3; ++step) {
    const float square = Scalar::mul(y, y);
    y = Scalar::mul(y, Scalar::fma(-half, square, 1.5f));
  }
  const float product = Scalar::mul(n, y), lost = Scalar::fma(n, y, -product);
  const float remainder = Scalar::sub(Scalar::fma(-product, y, 1.0f), Scalar::mul(lost, y));
  return Scalar::fma(0.5f * y, remainder, y);
}

}  // namespace

float usual_scale(int head_dim) {
  float scale;
  in_float_environment([&]() ATTEND_NOINLINE { scale = nearest_scale(head_dim); });
  return scale;
}

void Floats::run(const Problem& problem, const Options& options) { ActiveBackend::call<RunOptions>(problem, options); }

void Floats::run(const Problem& problem, const RangedOptions& options) { run_ranged<Floats>(problem, options); }

void Floats::run_part(const Problem& problem, const RangedOptions& options, int part, int parts) {
  run_units<Floats>(problem, options, part, parts);
}

void Floats::begin(const Problem& problem, const Options& options) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      RowState(element<float>(options.states, token, head), problem.value_dim).begin<Scalar>();
    }
  }
}

SeenKeys Floats::seen_keys(const Problem& problem, const Options& options) { return seen_by_queries(problem, options); }

namespace {

ATTEND_NOINLINE void leave_rows(const Problem& problem, const Options& options, int from, int to) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      RowState(element<float>(options.states, token, head), problem.value_dim).leave<Scalar>(from, to);
    }
  }
}

ATTEND_NOINLINE void finish_rows(const Problem& problem, const Options& options) {
  const int width = problem.value_dim;
  for (int head = 0; head < problem.query_heads; ++head) {
    for (int token = 0; token < problem.queries; ++token) {
      const RowState state(element<float>(options.states, token, head), width);
      const StateNodes<float> nodes = state.nodes();
      float lane_sums[panel_keys];
      copy_row<Scalar>(state.lane_sums(), panel_keys, lane_sums);
      float max = state.max();
      for (int n = 0; n < nodes.nodes(); ++n) max = Scalar::max(max, nodes.sums(n)[width + 1]);
      // Of some sums from c on, or of the denominator, which lies behind those of a node.
      const float open_factor = rescale_factor<Scalar>(state.max(), max);
      const auto total = [&](int c, int count, const float* of_open) {
        TreeSum<Columns, Columns::Add> sum{Columns::Add()};
        for (int n = 0; n < nodes.nodes(); ++n) {
          const float* const of = nodes.sums(n);
          sum.take(node_of(nodes.number(n)).first, Columns(of + c, count, rescale_factor<Scalar>(of[width + 1], max)));
        }
        if (problem.keys % segment_keys != 0) sum.take(segment_of(problem.keys), Columns(of_open, count, open_factor));
        return sum.total();
      };
      const float open_denominator = add_lanes<Scalar>(lane_sums);
      const Denominator all = denominator_of(options, head, total(width, 1, &open_denominator).numbers[0], max);
      epilogue_lse(options, token, head, all);
      ptrdiff_t at = distance(problem.output, token, head);
      for (int c = 0; c < width; c += Columns::most, at += Columns::most) {
        const int count = at_most(width - c, Columns::most);
        Columns open_sums;
        for (int i = 0; i < count; ++i) open_sums.numbers[i] = Scalar::add(state.sums()[c + i], state.chain()[c + i]);
        Columns sums = total(c, count, open_sums.numbers);
        sums = magnitude(all.sum) == 0 ? Columns{} : Columns(sums.numbers, count, all.output);
        narrow_row(options.output_format, sums.numbers, count, moved(problem.output.data, at, options.output_format));
      }
    }
  }
}

ATTEND_NOINLINE void merge_rows(float* states, const float* others, bool takes_open, int rows, int value_dim, int nodes) {
  const ptrdiff_t floats = ptrdiff_t(state_floats(value_dim, nodes));
  for (int r = 0; r < rows; ++r, states += floats, others += floats) {
    const RowState state(states, value_dim), other(const_cast<float*>(others), value_dim);  // other is only read
    const StateNodes<float> kept = state.nodes();
    merge_nodes(kept, other.nodes(), [&](int n, float* added, bool) {
      join<Scalar>(node_at(kept.sums(n), value_dim), node_at(added, value_dim), value_dim);
    });
    if (!takes_open) continue;
    copy_row<Scalar>(other.lane_sums(), panel_keys, state.lane_sums());
    copy_row<Scalar>(other.chain(), value_dim, state.chain());
    copy_row<Scalar>(other.sums(), value_dim, state.sums());
    state.max() = other.max();
  }
}

}  // namespace

void Floats::leave(const Problem& problem, const Options& options, int from, int to) {
  in_float_environment(leave_rows, problem, options, from, to);
}

void Floats::finish(const Problem& problem, const Options& options) { in_float_environment(finish_rows, problem, options); }

void Floats::merge(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes) {
  in_float_environment(merge_rows, static_cast<float*>(states), static_cast<const float*>(others), takes_open, rows, value_dim,
                       nodes);
}

void Floats::run_part(const Problem& problem, int part, int parts) { run_units<Floats>(problem, part, parts); }

void Floats::run_part(const Problem& problem, const Options& options, int part, int parts) {
  run_units<Floats>(problem, options, part, parts);
}

}  // namespace core
}  // namespace attend
