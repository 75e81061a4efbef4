// Segments by themselves, and rows whose keys come in several calls: how their sums are kept, and how they are added up.
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
#include "../../include/attend/core/options.h"
#include "../kernel/epilogue.h"
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

// A row of a call without options: its output, or what is kept of its segment.
template <class Isa>
ATTEND_ALWAYS_INLINE void end_row(const float* sums, int value_dim, float denominator, float max, bool divides, float* output) {
  if (divides) return divide_row<Isa>(sums, value_dim, denominator, output);
  store_partial_row<Isa>(sums, value_dim, denominator, max, output);
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

// Adds up the segments of each row of a problem in its output, then calls with the row's token, head, output and total.
//   kept       [kv_heads][segments][queries][group][partial_row_floats]
//   seen(token)  how many of the segments a token sees
template <class Isa, class Seen, class Call>
ATTEND_ALWAYS_INLINE void for_each_total(const core::Problem& problem, int segments, const float* kept, Seen seen, Call call) {
  const int group = problem.query_heads / problem.kv_heads;
  const ptrdiff_t row_floats = partial_row_floats(problem.value_dim), apart = row_floats * group * problem.queries;
  for (int first_head = 0; first_head < problem.query_heads; first_head += group) {
    for (int token = 0; token < problem.queries; ++token) {
      const int count = seen(token);
      float* output = element(problem.output, token, first_head);
      for (int head = 0; head < group; ++head, kept += row_floats, output += problem.output.head_stride) {
        call(token, first_head + head, output, add_row_segments<Isa>(kept, apart, count, problem.value_dim, output));
      }
    }
    kept += apart * (segments - 1);
  }
}

// The output of a problem.
template <class Isa>
void add_segments(const core::Problem& problem, const float* kept) {
  for_each_total<Isa>(
      problem, visible_segments(problem), kept,
      [&](int token) ATTEND_INLINE_LAMBDA { return segments_with(visible_keys(problem, token)); },
      [&](int, int, float* output, const RowTotal& total)
          ATTEND_INLINE_LAMBDA { divide_row<Isa>(output, problem.value_dim, total.sum, output); });
}

// The same with options. A segment of which a row sees nothing adds zeros to it.
template <class Isa>
void add_segments(const core::Problem& problem, const core::Options& options, const float* kept) {
  const int segments = visible_segments(problem, options).count();
  for_each_total<Isa>(
      problem, segments, kept, [&](int) ATTEND_INLINE_LAMBDA { return segments; },
      [&](int token, int head, float* output, const RowTotal& total) ATTEND_INLINE_LAMBDA {
        epilogue_row<Isa>(problem, options, token, head, output, denominator_of(options, head, total.sum, total.max));
      });
}

// A row's state as it lies in memory, core::state_floats(value_dim) floats; or with its chain apart from the rest.
class RowState {
 public:
  RowState(float* data, int value_dim)
      : data_(data), chain_(data + 4 + panel_keys), sums_(chain_ + value_dim), value_dim_(value_dim) {}
  RowState(float* data, float* chain, int value_dim)
      : data_(data), chain_(chain), sums_(data + 4 + panel_keys), value_dim_(value_dim) {}

  float& max() const { return data_[0]; }        // that the open chain and segment are relative to
  float& total_max() const { return data_[1]; }  // the same of the segments before
  float& total_sum() const { return data_[2]; }  // their denominator
  float& owner() const { return data_[core::state_owner]; }
  float* lane_sums() const { return data_ + 4; }
  float* chain() const { return chain_; }
  float* sums() const { return sums_; }
  float* total() const { return sums_ + value_dim_; }

  template <class Isa>
  void begin() const {
    fill_row<Isa>(0.0f, value_dim_, chain());
    owner() = 0.0f;
    begin_total<Isa>();
    begin_segment<Isa>();
  }

  // The first segment, without chain and total.
  template <class Isa>
  void begin_segment() const {
    max() = lowest_max;
    clear<Isa>();
  }

  // No segment has ended.
  template <class Isa>
  void begin_total() const {
    total_max() = lowest_max;
    total_sum() = 0.0f;
    fill_row<Isa>(0.0f, value_dim_, total());
  }

  // The open chain ends.
  template <class Isa>
  void end_chain() const {
    multiply_add_row<Isa>(chain(), value_dim_, Isa::broadcast(1.0f), sums(), sums());
    fill_row<Isa>(0.0f, value_dim_, chain());
  }

  // The open segment ends. Its maximum is the running one, which only grows.
  template <class Isa>
  void end_segment() const {
    const typename Isa::Vec factor = rescale_factor<Isa>(total_max(), max());
    total_sum() = rescale_and_add<Isa>(total(), total_sum(), factor, sums(), add_lanes<Isa>(lane_sums()), value_dim_);
    total_max() = max();
    clear<Isa>();
  }

 private:
  template <class Isa>
  void clear() const {
    fill_row<Isa>(0.0f, panel_keys, lane_sums());
    fill_row<Isa>(0.0f, value_dim_, sums());
  }

  float* data_;
  float* chain_;
  float* sums_;
  int value_dim_;
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
