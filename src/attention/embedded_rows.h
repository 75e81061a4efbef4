// The rows of a block of the embedded pipeline with options: what each of them sees of a chain of keys, and where its sums lie.
#pragma once

#include "../kernel/epilogue.h"
#include "row_state.h"
#include "score_mod.h"

namespace attend {
namespace {

// Of a chain, what a row sees by position: keys from ... to - 1, counted from the chain's first. Pinned keys and a window may
// leave a gap between.
struct ChainRange {
  int from;
  int to;
  bool gap;
};

inline ChainRange range_in_chain(const Visibility& visibility, int key, int count) {
  ChainRange range = {at_least(visibility.begin - key, 0), at_most(visibility.end - key, count), false};
  const int first = visibility.first - key, pinned = visibility.pinned - key;
  if (range.from >= first) return range;
  if (range.from >= pinned) {
    range.from = first;
  } else if (first < range.to) {
    range.gap = pinned < first;
  } else {
    range.to = at_most(range.to, pinned);
  }
  return range;
}

struct EmbeddedRow {
  QueryRow at;
  float* state;  // the caller's, or one whose chain lies apart
  float* sums;   // of the state: those of the open segment
  ChainRange sees;
};
static_assert(sizeof(EmbeddedRow) <= sizeof(float) * core::EmbeddedOptionMemory::row_floats, "the work memory has room for it");

template <class Isa, class Features>
class EmbeddedRows {
 public:
  EmbeddedRows(const core::Problem& problem, const core::Options& options)
      : problem_(problem), options_(options), score_mod_(problem, options) {
    const core::EmbeddedOptionMemory at(problem.row_block, problem.head_dim, problem.value_dim);
    float* const work = problem.scratch;
    rows_ = static_cast<EmbeddedRow*>(static_cast<void*>(work));
    states_ = work + at.states;
    chain_ = work + at.chain;
    scores_ = work + at.scores;
    queries_ = work + at.queries;
    numbers_ = work + at.numbers;
  }

  EmbeddedRow& row(int r) const { return rows_[r]; }
  float* scores(int r) const { return scores_ + r * chain_keys; }
  float* query(int r) const { return queries_ + ptrdiff_t(r) * problem_.head_dim; }
  float* numbers() const { return numbers_; }
  const ScoreMod<Scalar>& score_mod() const { return score_mod_; }
  bool has_states() const { return Features::states && attend::has_states(options_); }

  RowState state(int r) const {
    float* const data = rows_[r].state;
    return has_states() ? RowState(data, problem_.value_dim) : RowState(data, chain_, problem_.value_dim);
  }

  // Row r is a token of a query head.
  void begin(int r, int token, int head) const {
    EmbeddedRow& row = rows_[r];
    row.at = query_row(problem_, options_, token, head);
    const ptrdiff_t at = token * problem_.query.token_stride + head * problem_.query.head_stride;
    const float* from = moved(problem_.query.data, at, query_format());
    if (query_format() != core::Format::float32) {
      widen_row<Isa>(query_format(), from, problem_.head_dim, query(r));
      from = query(r);
    }
    multiply_row<Isa>(from, problem_.head_dim, Isa::broadcast(score_mod_.query_scale()), query(r));
    if (has_states()) {
      row.state = element(options_.states, token, head);
      if (options_.begins) state(r).template begin<Isa>();
    } else {
      row.state = states_ + r * core::EmbeddedOptionMemory::state_floats(problem_.value_dim);
      state(r).template begin_segment<Isa>();
    }
    row.sums = state(r).sums();
    if constexpr (Features::score_mods) score_mod_.begin(token, head);
  }

  // Writes what the caller wants of row r. Without a total, all keys were of one segment, which is still open.
  void finish(int r, bool has_total) const {
    const int token = rows_[r].at.token, head = rows_[r].at.head;
    const RowState all = state(r);
    const float sum = has_total ? all.total_sum() : add_lanes<Scalar>(all.lane_sums());
    float* const sums = has_total ? all.total() : all.sums();
    if constexpr (Features::score_mods) {
      const float* sink = options_.sinks == nullptr ? nullptr : options_.sinks + head;
      const Denominator denominator = denominator_of(sum, all.max(), sink);
      if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
        finish_weights<Scalar>(score_mod_.shown(token, head), options_.score_keys, all.max(), denominator, scores_);
      }
      epilogue_row<Isa>(problem_, options_, token, head, sums, denominator);
    } else {
      divide_row<Isa>(sums, problem_.value_dim, sum, element(problem_.output, token, head));
    }
  }

 private:
  core::Format query_format() const { return Features::score_mods ? options_.query_format : core::Format::float32; }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreMod<Scalar> score_mod_;
  EmbeddedRow* rows_;
  float *states_, *chain_, *scores_, *queries_, *numbers_;
};

}  // namespace
}  // namespace attend
