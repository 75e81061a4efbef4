// Integer attention in steps: what states have taken is finished, and states are added up.
#include "attention/integer_rows.h"
#include "backends.h"

namespace attend {
namespace core {

void finish(const IntegerProblem& problem, const IntegerOptions& options) {
  int32_t* const sums = static_cast<int32_t*>(problem.scratch);
  for (int token = 0; token < problem.queries; ++token) {
    for (int head = 0; head < problem.query_heads; ++head) {
      const IntegerRowState row(element(options.states, token, head), problem.value_dim);
      IntegerSoftmaxState state = row.total_state();
      for (int c = 0; c < problem.value_dim; ++c) sums[c] = row.total()[c];
      add_segment_sums(state, sums, row.segment_state(), row.segment(), problem.value_dim);
      store_integer_row<PortableOutputs>(problem, options, state, sums, token, head);
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
