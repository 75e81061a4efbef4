// Attention in integers: which kernels compute it; in parts, with its keys cut at segments, and in steps.
#include "portable.h"

namespace attend {
namespace core {
namespace {

ATTEND_OPERATION(RunIntegers, run_integers)
ATTEND_OPERATION(RunIntegerOptions, run_integer_options)

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
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      IntegerRowState(element<int32_t>(options.states, token, head), problem.value_dim).begin();
    }
  }
}

SeenKeys Integers::seen_keys(const Problem& problem, const Options& options) { return seen_by_queries(problem, options); }

void Integers::leave(const Problem& problem, const Options& options, int from, int to) {
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      IntegerRowState(element<int32_t>(options.states, token, head), problem.value_dim).leave(from, to);
    }
  }
}

void Integers::finish(const Problem& problem, const Options& options) {
  int32_t* const sums = static_cast<int32_t*>(problem.scratch);
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const IntegerRowState row(element<int32_t>(options.states, token, head), problem.value_dim);
      const StateNodes<int32_t> nodes = row.nodes();
      const int count = nodes.nodes();
      const auto at = [&](int n) { return n < count ? row.node(n) : row.open(); };
      const auto segment_at = [&](int n) { return n < count ? node_of(nodes.number(n)).first : segment_of(problem.keys); };
      const IntegerSoftmaxState state = add_integer_nodes(count + 1, at, segment_at, problem.value_dim, sums);
      store_integer_row<IntegerScalar>(problem, options, state, sums, token, head);
    }
  }
}

void Integers::merge(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes) {
  const ptrdiff_t numbers = ptrdiff_t(integer_state_numbers(value_dim, nodes));
  int32_t* to = static_cast<int32_t*>(states);
  int32_t* from = static_cast<int32_t*>(const_cast<void*>(others));  // only read
  for (int r = 0; r < rows; ++r, to += numbers, from += numbers) {
    const IntegerRowState row(to, value_dim), other(from, value_dim);
    merge_nodes(row.nodes(), other.nodes(), [&](int n, int32_t* sums, bool is_behind) {
      const IntegerNode node = row.node(n), added(sums, value_dim);
      if (is_behind) return node.join(added.state(), added.sums());
      // The one before is rounded in another way: both are added up anew, in their order.
      const auto both = [&](int which) { return which == 0 ? added : node; };
      const auto segment = [](int which) { return which; };
      node.set(add_integer_nodes(2, both, segment, value_dim, node.sums()));
    });
    if (takes_open) row.open().set(other.open().state(), other.open().sums());
  }
}

}  // namespace core
}  // namespace attend
