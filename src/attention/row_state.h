// The partial attention of a row: the sums of its open chain, its open segment and the segments before.
#ifndef ATTEND_ATTENTION_ROW_STATE_H
#define ATTEND_ATTENTION_ROW_STATE_H

#include "../../include/attend/core/options.h"
#include "../kernel/row_softmax.h"
#include "combine.h"

namespace attend::ATTEND_ISA {
namespace {

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
  float& next_key() const { return data_[3]; }
  float* lane_sums() const { return data_ + 4; }
  float* chain() const { return chain_; }
  float* sums() const { return sums_; }
  float* total() const { return sums_ + value_dim_; }

  template <class Isa>
  void begin() const {
    fill_row<Isa>(0.0f, value_dim_, chain());
    next_key() = 0.0f;
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
