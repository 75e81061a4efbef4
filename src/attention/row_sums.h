// The sums of a block's rows, while it goes over its keys (option_block.h): as in a RowState, but each kind side by side.
#pragma once

#include "../kernel/online_softmax.h"
#include "row_state.h"
#include "work_memory.h"

namespace attend {
namespace {

template <class Isa>
class OptionSums {
 public:
  OptionSums(float* work, const BlockMemory& at, int value_dim, bool has_states)
      : scale(static_cast<SoftmaxState*>(static_cast<void*>(work + at.scale))),
        dims_(value_dim),
        has_states_(has_states),
        lane_sums_(work + at.lane_sums),
        sums_(work + at.sums),
        chain_(work + at.chain),
        total_(work + at.total),
        total_max_(work + at.total_max),
        total_sum_(work + at.total_sum) {}

  SoftmaxState* const scale;  // [rows]

  float* lane_sums(int r) const { return lane_sums_ + r * panel_keys; }
  float* chain(int r) const { return chain_ + ptrdiff_t(r) * dims_; }
  // From row r on.
  Sums of_segment(int r) const { return {sums(r), dims_, true}; }

  // A row that has seen nothing. What is not read before it is written keeps what it has.
  void begin(int r) const {
    scale[r] = empty_softmax_state();
    clear(r);
    if (!has_states_) return;
    total_max_[r] = lowest_max;
    total_sum_[r] = 0.0f;
    fill_row<Isa>(0.0f, dims_, chain(r));
    fill_row<Isa>(0.0f, dims_, total(r));
  }

  void load(int r, const RowState& state) const {
    scale[r] = softmax_state_of(state.max());
    total_max_[r] = state.total_max();
    total_sum_[r] = state.total_sum();
    copy_row<Isa>(state.lane_sums(), panel_keys, lane_sums(r));
    copy_row<Isa>(state.chain(), dims_, chain(r));
    copy_row<Isa>(state.sums(), dims_, sums(r));
    copy_row<Isa>(state.total(), dims_, total(r));
  }

  void save(int r, const RowState& state) const {
    state.max() = scale[r].max;
    state.total_max() = total_max_[r];
    state.total_sum() = total_sum_[r];
    state.spare() = 0.0f;
    copy_row<Isa>(lane_sums(r), panel_keys, state.lane_sums());
    copy_row<Isa>(chain(r), dims_, state.chain());
    copy_row<Isa>(sums(r), dims_, state.sums());
    copy_row<Isa>(total(r), dims_, state.total());
  }

  // The open chain follows the row's maximum, which was `before`.
  void move_chain(int r, float before) const {
    const float max = scale[r].max;
    if (!(before < max)) return;
    const typename Isa::Vec factor = Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(before - max));
    multiply_row<Isa>(chain(r), dims_, factor, chain(r));
  }

  void end_chain(int r) const {
    multiply_add_row<Isa>(chain(r), dims_, Isa::broadcast(1.0f), sums(r), sums(r));
    fill_row<Isa>(0.0f, dims_, chain(r));
  }

  // For all rows of a block.
  void begin_segments() { has_total_ = has_states_; }
  void end_segments(int rows) {
    for (int r = 0; r < rows; ++r) {
      const Result all = result(r);
      total_sum_[r] = all.denominator;
      if (all.sums != total(r)) copy_row<Isa>(all.sums, dims_, total(r));
      total_max_[r] = scale[r].max;
      clear(r);
    }
    has_total_ = true;
  }

  // Of all segments, with the open one, which is lost.
  struct Result {
    float* sums;
    float denominator;
  };
  Result result(int r) const {
    const float sum = Isa::sum_lanes(lane_sums(r));
    if (!has_total_) return {sums(r), sum};
    const typename Isa::Vec factor = Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(total_max_[r] - scale[r].max));
    multiply_add_row<Isa>(total(r), dims_, factor, sums(r), total(r));
    return {total(r), Scalar::fma(total_sum_[r], Isa::highest_lane(factor), sum)};
  }

 private:
  float* sums(int r) const { return sums_ + ptrdiff_t(r) * dims_; }
  float* total(int r) const { return total_ + ptrdiff_t(r) * dims_; }

  // The sums of a segment begin.
  void clear(int r) const {
    fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
    fill_row<Isa>(0.0f, dims_, sums(r));
  }

  const int dims_;  // of a value
  const bool has_states_;
  bool has_total_ = false;  // whether there was a segment before the open one; its maximum does not tell, after a NaN alone
  float* const lane_sums_;  // [rows][16], denominators
  float* const sums_;       // [rows][value_dim], of the current segment
  float* const chain_;      // [rows][value_dim], of the current chain, when it goes by keys
  float* const total_;      // [rows][value_dim], of the finished segments
  float* const total_max_;  // [rows], what these are relative to
  float* const total_sum_;  // [rows], their denominators
};

}  // namespace
}  // namespace attend
