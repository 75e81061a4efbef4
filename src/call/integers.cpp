// Attention in integers: which kernels compute it; in parts, with its keys cut at segments, and in steps.
#include "portable.h"

namespace attend::core {
namespace {

ATTEND_ENTRY_POINT(RunIntegers, run_integers)
ATTEND_ENTRY_POINT(RunIntegerOptions, run_integer_options)

}  // namespace

#if !ATTEND_SOFT_DOUBLE
double nearest_product(double a, double b) {
  in_float_environment([&]() ATTEND_NOINLINE { a *= b; });
  return a;
}

double nearest_quotient(double a, double b) {
  in_float_environment([&]() ATTEND_NOINLINE { a /= b; });
  return a;
}
#endif

void Integers::run(const Problem& problem) { ActiveIntegerBackend::call<RunIntegers>(problem); }

void Integers::run(const Problem& problem, const Options& options) {
  ActiveIntegerBackend::call<RunIntegerOptions>(problem, options);
}

void Integers::run_part(const Problem& problem, int part, int parts) { run_units<Integers>(problem, part, parts); }

void Integers::run_part(const Problem& problem, const Options& options, int part, int parts) {
  run_units<Integers>(problem, options, part, parts);
}

void Integers::run(const Problem& problem, const RangedOptions& options) { run_ranged<Integers>(problem, options); }

void Integers::run_part(const Problem& problem, const RangedOptions& options, int part, int parts) {
  run_units<Integers>(problem, options, part, parts);
}

void Integers::begin(const Problem& problem, const Options& options) {
  for_each_state<SumInIntegers>(options.states, problem, [](const IntegerState& state, int, int) { state.begin(); });
}

SeenKeys Integers::seen_keys(const Problem& problem, const Options& options) { return seen_by_queries(problem, options); }

void Integers::leave(const Problem& problem, const Options& options, int from, int to) {
  for_each_state<SumInIntegers>(options.states, problem, [=](const IntegerState& state, int, int) { state.leave(from, to); });
}

void Integers::finish(const Problem& problem, const Options& options) {
  int32_t* const sums = static_cast<int32_t*>(problem.scratch);
  for_each_state<SumInIntegers>(options.states, problem, [&](const IntegerState& state, int token, int head) {
    int32_t numbers[2];
    const SumNode<int32_t> all = {sums, numbers};
    state.add_up(problem.keys, [&](int c, int count, const SumNode<int32_t>& total) {
      for (int i = 0; i < count; ++i) sums[c + i] = total.sums[i];
      all.set(total.numbers[0], total.numbers[1]);
    });
    store_integer_row<IntegerScalar>(problem, options, all, token, head);
  });
}

void Integers::merge(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes) {
  merge_states<SumInIntegers>(static_cast<int32_t*>(states), static_cast<const int32_t*>(others), takes_open, rows, value_dim,
                              nodes);
}

}  // namespace attend::core
