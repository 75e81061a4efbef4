// As combine.h adds up segments, for calls with options: sinks join the denominator, and there may be a log-sum-exp.
#ifndef ATTEND_ATTENTION_COMBINE_OPTIONS_H
#define ATTEND_ATTENTION_COMBINE_OPTIONS_H

#include "../kernel/epilogue.h"
#include "combine.h"

namespace attend::ATTEND_ISA {
namespace {

// kept: [kv_heads][seen segments][queries][group][partial_row_floats]. A segment of which a row sees nothing adds zeros to it.
template <class Isa>
void add_segments(const core::Problem& problem, const core::Options& options, const float* kept) {
  const int group = problem.query_heads / problem.kv_heads, segments = visible_segments(problem, options).count();
  const ptrdiff_t row_floats = partial_row_floats(problem.value_dim), apart = row_floats * group * problem.queries;
  for (int first_head = 0; first_head < problem.query_heads; first_head += group) {
    for (int token = 0; token < problem.queries; ++token) {
      for (int head = first_head; head < first_head + group; ++head) {
        float* const output = element(problem.output, token, head);
        const RowTotal total = add_row_segments<Isa>(kept, apart, segments, problem.value_dim, output);
        const float* sink = options.sink_logits == nullptr ? nullptr : options.sink_logits + head;
        epilogue_row<Isa>(problem, options, token, head, output, denominator_of(total.sum, total.max, sink));
        kept += row_floats;
      }
    }
    kept += apart * (segments - 1);
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
