// Segments by themselves: how the sums of one are kept, and how those of all are added up.
//
//   total = lowest maximum, no sums
//   for each segment that the row sees, ascending:
//     bring total and segment to the higher of their maxima:  times 2^(lower - higher), which is exact
//     total += segment
//   divide by the denominator
//
// The running maximum of the whole only moves exponents, so a segment that starts without it has the same digits.
#ifndef ATTEND_ATTENTION_COMBINE_H
#define ATTEND_ATTENTION_COMBINE_H

#include "../../include/attend/core/attention.h"
#include "../kernel/pack.h"
#include "../kernel/row_softmax.h"
#include "visibility.h"

namespace attend::ATTEND_ISA {
namespace {

// Adds sums to a row, which is multiplied by `factor` first: rescale_factor of the two maxima, where the row's is not above the
// other. The same with their denominators, of which it returns the new one. Exact but for the additions.
template <class Isa>
float rescale_and_add(float* row, float denominator, typename Isa::Vec factor, const float* added, float added_denominator,
                      int value_dim) {
  const float sum = Scalar::fma(denominator, Isa::highest_lane(factor), added_denominator);
  multiply_add_row<Isa>(row, value_dim, factor, added, row);
  return sum;
}

// Keeps a row as it is after the last key of a segment.
template <class Isa>
void store_partial_row(const float* sums, int value_dim, float denominator, float max, float* to) {
  if (sums != to) copy_row<Isa>(sums, value_dim, to);
  to[value_dim] = denominator;
  to[value_dim + 1] = max;
}

// The denominator of a row, and the maximum that it and the row's sums are relative to.
struct RowTotal {
  float sum;
  float max;
};

// Adds up what was kept of the segments that a row sees, in the output; `apart` floats lie from one segment's to the next's.
template <class Isa>
RowTotal add_row_segments(const float* kept, ptrdiff_t apart, int segments, int value_dim, float* output) {
  float sum = kept[value_dim], max = kept[value_dim + 1];
  copy_row<Isa>(kept, value_dim, output);
  for (int segment = 1; segment < segments; ++segment) {
    kept += apart;
    const float segment_sum = kept[value_dim], segment_max = kept[value_dim + 1];
    const bool higher = Scalar::less(max, segment_max);
    const typename Isa::Vec factor = higher ? rescale_factor<Isa>(max, segment_max) : rescale_factor<Isa>(segment_max, max);
    if (higher) {
      sum = rescale_and_add<Isa>(output, sum, factor, kept, segment_sum, value_dim);
      max = segment_max;
    } else {
      sum = Scalar::fma(segment_sum, Isa::highest_lane(factor), sum);
      multiply_add_row<Isa>(kept, value_dim, factor, output, output);
    }
  }
  return {sum, max};
}

// The output of a problem; kept: [kv_heads][seen segments][queries][group][partial_row_floats].
template <class Isa>
void add_segments(const core::Problem& problem, const float* kept) {
  const int group = problem.query_heads / problem.kv_heads, segments = visible_segments(problem);
  const ptrdiff_t row_floats = partial_row_floats(problem.value_dim), apart = row_floats * group * problem.queries;
  for (int first_head = 0; first_head < problem.query_heads; first_head += group) {
    for (int token = 0; token < problem.queries; ++token) {
      const int seen = segments_with(visible_keys(problem, token));
      float* output = problem.output.data + token * problem.output.token_stride + first_head * problem.output.head_stride;
      for (int head = 0; head < group; ++head) {
        const float sum = add_row_segments<Isa>(kept, apart, seen, problem.value_dim, output).sum;
        divide_row<Isa>(output, problem.value_dim, sum, output);
        kept += row_floats;
        output += problem.output.head_stride;
      }
    }
    kept += apart * (segments - 1);
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
