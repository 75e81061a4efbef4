// Attention with options, which backend computes it, and what states become; in parts of about the same work: smaller problems,
// made by moving pointers. Calls without options go through backend/dispatch.cpp.
#include "portable.h"

namespace attend::core {
namespace {

ATTEND_ENTRY_POINT(RunOptions, run_options)

// Newton's iteration without divisions, y = y * (1.5 - n / 2 * y^2), begun within 4 % by halving the exponent. Its last step is
// from the exact remainder 1 - n * y^2 but for its own rounding, so that the result is the nearest float (tests try all).
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
  for_each_state<SumInFloats<Scalar>>(options.states, problem, [](const FloatState& state, int, int) { state.begin(); });
}

SeenKeys Floats::seen_keys(const Problem& problem, const Options& options) { return seen_by_queries(problem, options); }

void Floats::leave(const Problem& problem, const Options& options, int from, int to) {
  in_float_environment([&]() ATTEND_NOINLINE {
    for_each_state<SumInFloats<Scalar>>(options.states, problem,
                                        [=](const FloatState& state, int, int) { state.leave(from, to); });
  });
}

void Floats::finish(const Problem& problem, const Options& options) {
  in_float_environment([&]() ATTEND_NOINLINE {
    for_each_state<SumInFloats<Scalar>>(options.states, problem, [&](const FloatState& state, int token, int head) {
      ptrdiff_t at = distance(problem.output, token, head);
      Denominator all;
      state.add_up(problem.keys, [&](int c, int count, const SumNode<float>& total) {
        if (c == 0) {
          all = denominator_of(options, head, total.numbers[0], total.numbers[1]);
          epilogue_lse(options, token, head, all);
        }
        for (int i = 0; i < count; ++i) total.sums[i] = magnitude(all.sum) == 0 ? 0.0f : Scalar::mul(total.sums[i], all.factor);
        narrow_row(options.output_format, total.sums, count, moved(problem.output.data, at + c, options.output_format));
      });
    });
  });
}

void Floats::merge(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes) {
  in_float_environment([&]() ATTEND_NOINLINE {
    merge_states<SumInFloats<Scalar>>(static_cast<float*>(states), static_cast<const float*>(others), takes_open, rows,
                                      value_dim, nodes);
  });
}

void Floats::run_part(const Problem& problem, int part, int parts) { run_units<Floats>(problem, part, parts); }

void Floats::run_part(const Problem& problem, const Options& options, int part, int parts) {
  run_units<Floats>(problem, options, part, parts);
}

}  // namespace attend::core
