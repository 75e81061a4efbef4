// Calls with options on hosts: a block of query rows of one key/value head goes over its keys, as in row_block.h, whose tiles
// do the work; between scores and weights comes option_scores.h.
//
//   for each block of keys that any row sees some of by position, cut at segments:
//     for each tile of rows:  scores -> options -> weights -> weighted sum of values
//   at the end of a segment: add its sums to the sums of those before
//
// A hidden key has weight 0, and multiplying by that adds nothing to a sum, unless the value is infinite or no number. So
// values of blocks in which a row does not see a key between others are looked through once; where one is not finite, rows go
// by keys.
#pragma once

#include "finish.h"
#include "option_changes.h"
#include "option_keys.h"
#include "option_memory.h"
#include "option_scores.h"
#include "option_sums.h"
#include "rows.h"
#include "simd/contract.h"
#include "weigh_rows.h"

namespace attend {
namespace {

template <class Isa>
class OptionBlock {
  static_assert(has_host_operations<Isa>(), "");

 public:
  OptionBlock(const core::Problem& problem, const core::Options& options, const BlockMemory& at)
      : problem_(problem),
        options_(options),
        option_scores_(problem, options),
        group_(problem.query_heads / problem.kv_heads),
        dims_(problem.value_dim),
        has_states_(has_states(options)),
        changes_scores_(changes_scores(options)),
        has_masks_(has_masks(options)),
        only_change_(only_change(options)),
        stop_(has_states_ ? problem.keys : past_all_keys),
        key_block_(at_most(problem.key_block, problem.row_block == 1 ? decode_block(options) : config::score_keys)),
        keys_(problem, options, at),
        sums_(problem.scratch, at, problem.value_dim, has_states_) {
    float* const work = problem.scratch;
    row_ = static_cast<OptionRow*>(static_cast<void*>(work + at.row));
    scores_ = work + at.scores;
    query_ = work + at.query;
  }

  void run(const Rows& rows) {
    rows_ = rows;
    keys_.take_head(rows.head);
    begin_rows();
    go_over_all();
    end_rows();
  }

 private:
  using Block = typename OptionKeys<Isa>::Block;

  void begin_rows() {
    const typename Isa::Vec scale = Isa::broadcast(option_scores_.query_scale());
    sums_.begin_segments();
    for_each_row(rows_, group_, [&](int r, int token, int head) {
      row_[r] = option_row(problem_, options_, token, head);
      float* const query = query_ + ptrdiff_t(r) * problem_.head_dim;
      const ptrdiff_t at = token * problem_.query.token_stride + head * problem_.query.head_stride;
      const float* from = moved(problem_.query.data, at, options_.query_format);
      if (options_.query_format != core::Format::float32) {
        widen_row<Isa>(options_.query_format, from, problem_.head_dim, query);
        from = query;
      }
      scale_row<Isa>(from, problem_.head_dim, scale, query);
      option_scores_.begin(token, head);
      if (has_states_ && !options_.begins) {
        sums_.load(r, RowState(element(options_.states, token, head), dims_));
      } else {
        sums_.begin(r);
      }
    });
    sight_of_all_ = {row_[0].sight, row_[rows_.count - 1].sight, shows_hidden(options_)};
    goes_straight_ = !changes_scores_ && keys_.widens_in_registers(rows_.count);
  }

  void end_rows() {
    for_each_row(rows_, group_, [&](int r, int token, int head) {
      if (has_states_) {
        sums_.save(r, RowState(element(options_.states, token, head), dims_));
        return;
      }
      const float* sink = options_.sinks == nullptr ? nullptr : options_.sinks + head;
      const typename OptionSums<Isa>::Result result = sums_.result(r);
      const Denominator all = denominator_of(result.denominator, sums_.scale[r].max, sink);
      if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
        float* const shown = option_scores_.shown(token, head);
        finish_weights<Isa>(shown, options_.score_keys, sums_.scale[r].max, all, scores_);
      }
      finish_row<Isa>(problem_, options_, token, head, result.sums, all);
    });
  }

  void go_over_all() {
    const Sight &earliest = sight_of_all_.earliest, &latest = sight_of_all_.latest;
    const int end = sight_of_all_.all ? problem_.keys : latest.end;
    int key = earliest.begin & -chain_keys;
    int last = has_states_ ? options_.first_key & -chain_keys : key;  // the open chain, if there is one
    Block block;
    while (key < end && earliest.begin < end) {
      int chains = chain_keys;
      if (const int all = seen_by_all(key); all > 0 && keys_.typed_block(key, all, block)) {
        chains = all;
        go_to(last, key);
        whole_tile<1>(block);
        last = key + chains - chain_keys;
      } else if (is_needed(key, end)) {
        // Chains that lie together, of one segment; the first alone if it was begun in another call.
        const int most = key < earliest.begin ? chain_keys : at_most(key_block_, segment_keys - key % segment_keys);
        while (chains < most && key + chains < end && is_needed(key + chains, end)) chains += chain_keys;
        go_to(last, key);
        go_over(key, at_most(chains, end - key));
        last = key + chains - chain_keys;
      } else if (!sight_of_all_.has_any(key, key + chain_keys)) {
        chains = at_least(chain_keys, (earliest.first & -chain_keys) - key);
      }
      key += chains;
    }
    if (has_states_) go_to(last, stop_);
  }

  // Of keys that rows read in their format: how many whole chains, of one segment, they all see, and nothing happens to scores.
  int seen_by_all(int key) const {
    if (!goes_straight_ || sight_of_all_.earliest.begin > key || sight_of_all_.latest.first > key) return 0;
    return at_most(at_most(key_block_, segment_keys - key % segment_keys), (sight_of_all_.earliest.end - key) & -chain_keys);
  }

  // All rows, from scores to weighted values of such keys.
  template <int rows>
  ATTEND_APART void whole_tile(Block& block) {
    if constexpr (rows < typed_rows) {
      if (rows_.count > rows) return whole_tile<rows + 1>(block);
    }
    int visible[rows];
    for (int i = 0; i < rows; ++i) visible[i] = block.to;
    keys_.template score<rows>(query_, block, 0, block.to, scores_);
    weigh_rows<Isa, rows>(scores_, visible, sums_.scale, sums_.lane_sums(0), sums_.of_segment(0));
    if (block.value_scales != nullptr) scale_weights<rows>(scores_, 0, block.to, block.value_scales);
    const int some = keys_.template takes_chains<rows>(block) ? block.to : chain_keys;
    for (int& count : visible) count = some;
    for (int k = 0; k < block.to; k += some) {
      keys_.template add_values<rows>(scores_, block, sight_of_all_, k, k + some, visible, sums_.of_segment(0));
    }
  }

  // Whether any row may see any key of a chain.
  bool is_needed(int key, int end) const {
    return sight_of_all_.has_any(key, key + chain_keys) &&
           (!has_masks_ || lets_any(0, rows_.count, key, 0, at_most(end - key, chain_keys)));
  }

  // Ends the chain and the segment of a key that the next one is not of.
  void go_to(int key, int next) {
    const bool another_chain = has_states_ && next / chain_keys != key / chain_keys;
    const bool another_segment = next / segment_keys != key / segment_keys;
    for (int r = 0; another_chain && r < rows_.count; ++r) sums_.end_chain(r);
    if (another_segment) sums_.end_segments(rows_.count);
  }

  void go_over(int key, int to) {
    int from = at_least(sight_of_all_.earliest.begin - key, 0) & -panel_keys;
    while (!sight_of_all_.has_any(key + from, key + from + panel_keys)) from += panel_keys;
    for (int last; last = (to - 1) & -panel_keys, !sight_of_all_.has_any(key + last, key + to);) to = last;
    const bool gathers = rows_.count > (problem_.value.token_stride <= 256 ? 12 : 3) * Isa::tile_rows && !problem_.key_panels;
    Block block = keys_.block(key, from, to, sight_of_all_, rows_.count, gathers);
    for (int r = 0, rows; r < rows_.count; r += rows) {
      const int left = rows_.count - r;
      rows = left < 2 * Isa::tile_rows && left > Isa::tile_rows ? (left + 1) / 2 : at_most(left, Isa::tile_rows);
      if (rows == 1) {
        tile<1>(r, block);
      } else {
        tile_of<Isa::tile_rows>(rows, r, block);
      }
    }
  }

  // Whether masks let any of the rows see any of some keys; scores of hidden keys may be wanted all the same.
  bool lets_any(int r, int rows, int key, int from, int to) const {
    if (!has_masks_ || sight_of_all_.all) return true;
    for (const int end = r + rows; r < end; ++r) {
      if (lets_any_through(options_, row_[r].visible, row_[r].bias, key + from, to - from)) return true;
    }
    return false;
  }

  template <int rows>
  void tile_of(int wanted, int r, Block& block) {
    if constexpr (rows > 2) {
      if (wanted != rows) return tile_of<rows - 1>(wanted, r, block);
    }
    tile<rows>(r, block);
  }

  // `rows` rows from row r on.
  template <int rows>
  ATTEND_APART void tile(int r, Block& block) {
    const BlockSight sight = {row_[r].sight, row_[r + rows - 1].sight, sight_of_all_.all};
    const int most = sight.all ? block.to : at_most(sight.latest.end - block.key, block.to);
    int from = block.from;
    while (from < most && !sight.has_any(block.key + from, block.key + from + panel_keys)) from += panel_keys;
    if (from >= most || !lets_any(r, rows, block.key, from, most)) return;

    keys_.template score<rows>(query_ + ptrdiff_t(r) * problem_.head_dim, block, from, most, scores_);
    const bool at_once = rows == Isa::tile_rows && can_change_at_once(r, block, from, most, sight);
    const bool gaps = at_once ? has_masks_ : apply_options<rows>(r, block, from, most, sight);

    int visible[rows];  // from `from` on, never falling
    float before[rows];
    for (int i = 0; i < rows; ++i) {
      visible[i] = at_least(at_most(row_[r + i].sight.end - block.key, block.to) - from, 0);
      before[i] = sums_.scale[r + i].max;
    }
    if (visible[rows - 1] == 0) return;
    float* const weights = scores_ + from;
    const auto weigh = [&](auto change) {
      weigh_rows<Isa, rows>(weights, visible, sums_.scale + r, sums_.lane_sums(r), sums_.of_segment(r), change);
    };
    if constexpr (rows == Isa::tile_rows) {
      const OnlyChange change = at_once ? only_change_ : OnlyChange::none;
      with_change<Isa>(change, options_, row_ + r, block.key + from, option_scores_.cap(), weigh);
    } else {
      weigh(NoChange());
    }
    for (int i = 0; i < rows && has_states_; ++i) sums_.move_chain(r + i, before[i]);
    const bool by_keys = gaps && !keys_.are_finite(block, sight_of_all_);
    const bool together = visible[0] == visible[rows - 1] && keys_.template takes_chains<rows>(block);
    const bool scales = block.value_scales != nullptr;
    const int last = from + visible[rows - 1];
    const auto is_whole = [&](int k) {
      return !has_states_ || (block.key + k >= sight.earliest.begin && block.key + k + chain_keys <= stop_);
    };
    for (int k = from & -chain_keys, next; k < last; k = next) {
      next = k + chain_keys;
      const int begin = at_least(k, at_least(from, sight.earliest.begin - block.key));
      if (begin >= at_most(next, last)) continue;
      if (is_whole(k) && !by_keys) {
        while (together && next < last && is_whole(next)) next += chain_keys;
        const int end = at_most(next, last);
        if (scales) scale_weights<rows>(scores_, begin & -panel_keys, end, block.value_scales);
        int in_chain[rows];
        for (int i = 0; i < rows; ++i) in_chain[i] = at_most(at_least(from + visible[i] - begin, 0), end - begin);
        keys_.template add_values<rows>(scores_, block, sight_of_all_, begin, end, in_chain, sums_.of_segment(r));
      } else {
        go_by_keys(r, rows, block, k, begin, at_most(next, last));
      }
    }
  }

  // Whether all that options do is one change that is soon done, to whole panels that all rows see by position. Where rows are
  // few, masks must be looked at for gaps.
  bool can_change_at_once(int r, const Block& block, int from, int most, const BlockSight& sight) const {
    if (only_change_ == OnlyChange::none || rows_.count <= 2 * Isa::tile_rows || sight.all) return false;
    const int begin = block.key + from, end = block.key + most;
    const bool in_sight = sight.latest.first <= begin && sight.latest.begin <= begin && row_[r].sight.end >= end;
    const core::Mask& mask = only_change_ == OnlyChange::bias ? options_.bias : options_.visible;
    return in_sight && (!has_masks_ || mask.keys >= end) && (most - from) % panel_keys == 0;
  }

  // Returns whether a row may not see a key between others.
  template <int rows>
  bool apply_options(int r, const Block& block, int from, int most, const BlockSight& sight) {
    const bool all_in_sight = sight.latest.first <= block.key + from && sight.latest.begin <= block.key + from;
    if (!changes_scores_ && block.key_scales == nullptr && all_in_sight) return false;
    option_scores_.apply(scores_, row_ + r, rows, {block.key, from, most}, block.key_scales, !all_in_sight);
    // Of many rows, some will not see some key.
    bool gaps = !all_in_sight || (has_masks_ && rows_.count > 2 * Isa::tile_rows);
    for (int i = 0; !gaps && has_masks_ && i < rows; ++i) {
      gaps = any_hidden<Isa>(scores_ + i * config::score_keys + from, whole_panels(most) - from);
    }
    return gaps;
  }

  // Weights that multiply values; the denominators have theirs. Hidden keys have weight 0 and scales that are numbers, or they
  // are not read.
  template <int rows>
  ATTEND_INSIDE void scale_weights(float* weights, int from, int to, const float* scales) const {
    for (int i = 0; i < rows; ++i, weights += config::score_keys) {
      for (int k = from; k < to; k += Isa::lanes) {
        Isa::store(weights + k, Isa::mul(Isa::load(weights + k), Isa::load(scales + k)));
      }
    }
  }

  // A chain of the values of keys begin ... end - 1 for rows by themselves, without the keys that they do not see. The chain,
  // which began at k, stays open where the next call goes on with it.
  ATTEND_APART void go_by_keys(int r, int rows, Block& block, int k, int begin, int end) {
    const Values values = keys_.values_of(block, sight_of_all_);
    for (int i = 0; i < rows; ++i, ++r) {
      float* const chain = sums_.chain(r);
      const float* weights = scores_ + i * config::score_keys;
      if (!has_states_) fill_row<Isa>(0.0f, dims_, chain);
      for (int j = begin; j < end; ++j) {
        const int key = block.key + j;
        if (!row_[r].sight.has(key)) continue;
        if (magnitude(weights[j]) == 0 && !is_let_through(problem_, options_, row_[r].token, row_[r].head, key)) continue;
        const float scaled = block.value_scales == nullptr ? weights[j] : weights[j] * block.value_scales[j];
        const typename Isa::Vec weight = Isa::broadcast(scaled);
        multiply_add_row<Isa>(values.data + j * values.stride, dims_, weight, chain, chain);
      }
      if (!has_states_ || block.key + k + chain_keys <= stop_) sums_.end_chain(r);
    }
  }

  const core::Problem& problem_;
  const core::Options& options_;
  const OptionScores<Isa> option_scores_;
  const int group_;  // query heads that share a key/value head
  const int dims_;   // of a value
  const bool has_states_;
  const bool changes_scores_;
  const bool has_masks_;
  const OnlyChange only_change_;
  const int stop_;  // where the call stops; past all keys if that is the end
  const int key_block_;
  OptionKeys<Isa> keys_;
  OptionSums<Isa> sums_;
  OptionRow* row_;           // [rows]
  Rows rows_;                // at most problem.row_block
  BlockSight sight_of_all_;  // of these
  bool goes_straight_;       // whether they may, where they see all keys
  float* scores_;            // [tile rows][score_keys], a tile's scores and then weights; [key_block] where there is one row
  float* query_;             // [rows][head_dim], scaled queries
};

template <class Isa>
void run_with_options(const core::Problem& problem, const core::Options& options) {
  const BlockMemory memory(problem.row_block, problem.key_block, problem.head_dim, problem.value_dim);
  OptionBlock<Isa> block(problem, options, memory);
  for_each_block(problem, [&](const Rows& rows) { block.run(rows); });
}

}  // namespace
}  // namespace attend
