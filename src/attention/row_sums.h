// The sums of a block's rows on hosts, while it goes over its keys: of the open segment, and of the segments before it.
#ifndef ATTEND_ATTENTION_ROW_SUMS_H
#define ATTEND_ATTENTION_ROW_SUMS_H

#include "../../include/attend/core/work_memory.h"
#include "../kernel/online_softmax.h"
#include "combine.h"
#include "features.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Isa, class Features>
class RowSums {
 public:
  RowSums(float* work, const core::HostWorkMemory& at, int value_dim, bool has_states)
      : softmax(static_cast<SoftmaxState*>(static_cast<void*>(work + at.softmax))),
        dims_(value_dim),
        has_states_(Features::states && has_states),
        lane_sums_(work + at.lane_sums),
        sums_(work + at.sums),
        chain_(work + at.chain),
        total_(work + at.total),
        total_max_(work + at.total_max),
        total_sum_(work + at.total_sum) {}

  SoftmaxState* const softmax;  // [rows]

  float* lane_sums(int r) const { return lane_sums_ + r * panel_keys; }
  float* sums(int r) const { return sums_ + ptrdiff_t(r) * dims_; }
  float* chain(int r) const { return chain_ + ptrdiff_t(r) * dims_; }
  // The sums of the segments before, where there are features; otherwise they grow in the output.
  float* total(int r) const { return total_ + ptrdiff_t(r) * dims_; }

  // From row r on.
  Sums of_segment(int r, bool begun) const { return {sums(r), dims_, begun}; }
  float denominator(int r) const { return Isa::sum_lanes(lane_sums(r)); }

  // For all rows of a block, before each row's begin or load.
  void begin_block() { has_total_ = has_states_; }

  // A row that has seen nothing. What is not read before it is written keeps what it has: in plain calls all rows begin a
  // segment together, and their first keys store sums instead of adding to them.
  void begin(int r) const {
    softmax[r] = empty_softmax_state();
    if constexpr (Features::any) clear(r);
    if (!Features::states || !has_states_) return;
    total_max_[r] = lowest_max;
    total_sum_[r] = 0.0f;
    fill_row<Isa>(0.0f, dims_, chain(r));
    fill_row<Isa>(0.0f, dims_, total(r));
  }

  void load(int r, const RowState& state) const {
    softmax[r] = softmax_state_of(state.max());
    total_max_[r] = state.total_max();
    total_sum_[r] = state.total_sum();
    copy_row<Isa>(state.lane_sums(), panel_keys, lane_sums(r));
    copy_row<Isa>(state.chain(), dims_, chain(r));
    copy_row<Isa>(state.sums(), dims_, sums(r));
    copy_row<Isa>(state.total(), dims_, total(r));
  }

  void save(int r, const RowState& state) const {
    state.max() = softmax[r].max;
    state.total_max() = total_max_[r];
    state.total_sum() = total_sum_[r];
    state.owner() = 0.0f;
    copy_row<Isa>(lane_sums(r), panel_keys, state.lane_sums());
    copy_row<Isa>(chain(r), dims_, state.chain());
    copy_row<Isa>(sums(r), dims_, state.sums());
    copy_row<Isa>(total(r), dims_, state.total());
  }

  // The open chain follows the row's maximum, which was `before`.
  void move_chain(int r, float before) const {
    const float max = softmax[r].max;
    if (!(before < max)) return;
    multiply_row<Isa>(chain(r), dims_, rescale_factor<Isa>(before, max), chain(r));
  }

  void end_chain(int r) const {
    multiply_add_row<Isa>(chain(r), dims_, Isa::broadcast(1.0f), sums(r), sums(r));
    fill_row<Isa>(0.0f, dims_, chain(r));
  }

  // Adds a row's open segment to the total of those before, if there are any.
  void end_segment(int r, float* total) const {
    const float sum = denominator(r);
    if (has_total_) {
      const typename Isa::Vec factor = rescale_factor<Isa>(total_max_[r], softmax[r].max);
      total_sum_[r] = rescale_and_add<Isa>(total, total_sum_[r], factor, sums(r), sum, dims_);
    } else {
      total_sum_[r] = sum;
      copy_row<Isa>(sums(r), dims_, total);
    }
    total_max_[r] = softmax[r].max;
    if constexpr (Features::any) clear(r);
  }
  // After the rows of a block: from now on there is a total. The maximum cannot tell: it stays lowest_max in a row
  // that has seen only NaN.
  void end_segments() { has_total_ = true; }

  // The sums of all segments. The open segment is added first and cleared.
  struct Result {
    float* sums;
    float denominator;
  };
  Result result(int r, float* total, bool has_open_segment) const {
    if (!has_total_) return {sums(r), denominator(r)};
    if (has_open_segment) end_segment(r, total);
    return {total, total_sum_[r]};
  }

 private:
  // The sums of a segment begin.
  void clear(int r) const {
    fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
    fill_row<Isa>(0.0f, dims_, sums(r));
  }

  const int dims_;  // of a value
  const bool has_states_;
  bool has_total_ = false;  // whether there was a segment before the open one
  float* const lane_sums_;
  float* const sums_;
  float* const chain_;
  float* const total_;
  float* const total_max_;
  float* const total_sum_;
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
