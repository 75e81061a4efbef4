// Rows of integer attention: how sums of segments are added up, how they become outputs, and how they are kept in a state.
#ifndef ATTEND_ATTENTION_INTEGER_ROWS_H
#define ATTEND_ATTENTION_INTEGER_ROWS_H

#include "../kernel/pack.h"
#include "../numerics/arithmetic.h"
#include "../numerics/integer_softmax.h"

namespace attend::ATTEND_ISA {
namespace {

// Adds the sums of a segment to those before it.
inline void add_segment_sums(IntegerSoftmaxState& to, int32_t* total, const IntegerSoftmaxState& from, const int32_t* sums,
                             int value_dim) {
  if (from.denominator == 0) return;
  Merge merges;
  merge<0>(to, from.exponent, from.denominator, merges);
  int c = 0;
  if constexpr (!config::embedded) {
    // Loops of a known length, with results that lie elsewhere: compilers make them vectors.
    constexpr int columns = 16;
    for (; c + columns <= value_dim; c += columns) {
      int32_t added[columns];
      for (int i = 0; i < columns; ++i) {
        added[i] = (total[c + i] >> merges.total) + ((sums[c + i] + merges.half) >> merges.chunk);
      }
      for (int i = 0; i < columns; ++i) total[c + i] = added[i];
    }
  }
  for (; c < value_dim; ++c) total[c] = (total[c] >> merges.total) + ((sums[c] + merges.half) >> merges.chunk);
}

// A function of its own: where it is inlined, compilers load its constants into registers of floats before it is known whether
// outputs are floats at all, and other calls are to do without these.
inline ATTEND_NOINLINE void store_floats(const int32_t* sums, const RowEnd& end, int value_dim, const float& scale,
                                         float* output) {
  for (int c = 0; c < value_dim; ++c) output[c] = FloatArithmetic::mul(unrounded_output_of(sums[c], end), scale);
}

// A row's output, in the format of the options.
template <class Isa>
void store_integer_row(const core::IntegerProblem& problem, const core::IntegerOptions& options,
                       const IntegerSoftmaxState& state, const int32_t* sums, int token, int head) {
  const ptrdiff_t place = token * problem.output.token_stride + head * problem.output.head_stride;
  const RowEnd end = row_end(state, problem.output_scales[head * problem.output_scale_stride]);
  if (options.output_format == core::IntegerFormat::int8) {
    return Isa::outputs(sums, end, problem.value_dim, problem.output.data + place);
  }
  if (options.output_format == core::IntegerFormat::float32) {
    return store_floats(sums, end, problem.value_dim, options.float_scale,
                        reinterpret_cast<float*>(problem.output.data) + place);
  }
  int16_t* const output = reinterpret_cast<int16_t*>(problem.output.data) + place;
  for (int c = 0; c < problem.value_dim; ++c) output[c] = int16_t(clamped(output_of(sums[c], end), -32768, 32767));
}

// A row of a state: the sums of its open segment and of those before, then what both are relative to.
class IntegerRowState {
 public:
  IntegerRowState(int32_t* numbers, int value_dim) : numbers_(numbers), value_dim_(value_dim) {}

  int32_t* segment() const { return numbers_; }
  int32_t* total() const { return numbers_ + value_dim_; }
  IntegerSoftmaxState segment_state() const { return state(0); }
  IntegerSoftmaxState total_state() const { return state(2); }
  void set(const IntegerSoftmaxState& segment, const IntegerSoftmaxState& total) const {
    int32_t* const to = numbers_ + 2 * value_dim_;
    to[0] = segment.exponent;
    to[1] = int32_t(segment.denominator);
    to[2] = total.exponent;
    to[3] = int32_t(total.denominator);
  }

 private:
  IntegerSoftmaxState state(int at) const {
    const int32_t* const from = numbers_ + 2 * value_dim_ + at;
    return {from[0], uint32_t(from[1])};
  }

  int32_t* const numbers_;
  const int value_dim_;
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
