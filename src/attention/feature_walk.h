// The walk of a call with features over its keys on hosts: those that some row sees by position and masks.
//
//   scale the queries
//   for each block of keys that any row sees some of by position, ascending, cut at segments:
//     for each tile of rows:  scores -> score modifications -> weights -> weighted sum of values
//     at the end of a segment: add its sums to the sums of the segments before it
//   epilogue: divide by the denominators, or keep the states
#ifndef ATTEND_ATTENTION_FEATURE_WALK_H
#define ATTEND_ATTENTION_FEATURE_WALK_H

#include "../kernel/epilogue.h"
#include "masked_values.h"
#include "row_block.h"
#include "score_mod.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Isa>
class FeatureWalk {
 public:
  FeatureWalk(const core::Problem& problem, const core::Options& options, const core::HostWorkMemory& at)
      : problem_(problem),
        options_(options),
        score_mod_(problem, options),
        modifies_scores_(modifies_scores(options)),
        has_masks_(has_masks(options)),
        key_block_(problem.row_block > 1 ? at_most(problem.key_block, config::score_keys)
                                         : at_most(problem.key_block, decode_block(options))),
        rows_(problem, options, at),
        values_(rows_, static_cast<QueryRow*>(static_cast<void*>(problem.scratch + at.query_rows))) {}

  void run(const Rows& rows) {
    rows_.begin(rows, score_mod_.query_scale());
    rows_.for_each_row([&](int r, int token, int head) {
      values_.row[r] = query_row(problem_, options_, token, head);
      score_mod_.begin(token, head);
    });
    visibility_ = {values_.row[0].visibility, values_.row[rows.count - 1].visibility, shows_masked(options_)};
    walk_keys();
    end_rows();
  }

 private:
  using Walked = RowBlock<Isa, AllFeatures>;
  using KeyBlock = typename Walked::KeyBlock;
  using Steps = Tiles<Isa>;

  void end_rows() {
    rows_.for_each_row([&](int r, int token, int head) {
      const auto& sums = rows_.sums;
      if (rows_.has_states()) return sums.save(r, rows_.state(token, head));
      const auto result = sums.result(r, sums.total(r), true);
      if (options_.partial) {
        return store_partial_row<Isa>(result.sums, problem_.value_dim, result.denominator, sums.softmax[r].max,
                                      element(problem_.output, token, head));
      }
      const Denominator all = denominator_of(options_, head, result.denominator, sums.softmax[r].max);
      if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
        float* const shown = score_mod_.shown(token, head);
        finish_weights<Isa>(shown, options_.score_keys, sums.softmax[r].max, all, rows_.scores);
      }
      epilogue_row<Isa>(problem_, options_, token, head, result.sums, all);
    });
  }

  // Blocks are chains that lie together, of one segment. A chain that was begun in another call goes alone.
  void walk_keys() {
    const int begin = visibility_.earliest.begin, end = visibility_.all ? problem_.keys : visibility_.latest.end;
    int key = begin & -chain_keys;
    int last = rows_.has_states() ? options_.first_key & -chain_keys : key;  // the open chain, if there is one
    while (key < end && begin < end) {
      const int key_limit = key < begin ? chain_keys : at_most(key_block_, segment_keys - key % segment_keys);
      int chains = seen_by_all(key, key_limit);
      if (chains > 0) {
        close_before(last, key);
        last = key + chains - chain_keys;
        add_keys(key, 0, chains, true);
      } else if (chains = chain_keys; is_needed(key, end)) {
        while (chains < key_limit && key + chains < end && is_needed(key + chains, end)) chains += chain_keys;
        close_before(last, key);
        last = key + chains - chain_keys;
        add_visible_panels(key, at_most(chains, end - key));
      } else if (!visibility_.has_any(key, key + chain_keys)) {
        chains = at_least(chain_keys, (visibility_.earliest.first & -chain_keys) - key);
      }
      key += chains;
    }
    if (rows_.has_states()) close_before(last, problem_.keys);
  }

  // The number of keys from `key` on, in whole chains, that all rows see and whose scores stay as they are.
  int seen_by_all(int key, int key_limit) const {
    if (modifies_scores_ || !all_in_range(key, visibility_)) return 0;
    return at_most(key_limit, visibility_.earliest.end - key) & -chain_keys;
  }

  // Whether any row may see any key of a chain.
  bool is_needed(int key, int end) const {
    return visibility_.has_any(key, key + chain_keys) &&
           (!has_masks_ || lets_any({0, rows_.rows.count}, key, at_most(end - key, chain_keys)));
  }

  // Whether masks let any of the rows see any of some keys; scores of masked keys may be wanted all the same.
  ATTEND_NOINLINE bool lets_any(const RowTile& tile, int key, int count) const {
    if (visibility_.all) return true;
    for (int r = tile.r; r < tile.r + tile.rows; ++r) {
      if (lets_any_through(options_, values_.row[r].visible, values_.row[r].bias, key, count)) return true;
    }
    return false;
  }

  // Ends the chain and the segment of a key that the next one is not of.
  void close_before(int key, int next) {
    const int rows = rows_.rows.count;
    const bool another_chain = rows_.has_states() && next / chain_keys != key / chain_keys;
    for (int r = 0; another_chain && r < rows; ++r) rows_.sums.end_chain(r);
    if (next / segment_keys == key / segment_keys) return;
    for (int r = 0; r < rows; ++r) rows_.sums.end_segment(r, rows_.sums.total(r));
    rows_.sums.end_segments();
  }

  // Leaves out panels at both ends that nobody sees.
  void add_visible_panels(int key, int to) {
    int from = at_least(visibility_.earliest.begin - key, 0) & -panel_keys;
    while (!visibility_.has_any(key + from, key + from + panel_keys)) from += panel_keys;
    for (int last; last = (to - 1) & -panel_keys, !visibility_.has_any(key + last, key + to);) to = last;
    add_keys(key, from, to, false);
  }

  // seen: whether all rows see all of these keys, and nothing happens to scores.
  void add_keys(int key, int from, int to, bool seen) {
    KeyBlock block = rows_.keys.block(key, from, to, visibility_, rows_.rows.count);
    block.begun = true;
    int visible[Isa::tile_rows];
    for (int& count : visible) count = to;
    RowTile tile = {0, 0};
    for (; tile.r < rows_.rows.count; tile.r += tile.rows) {
      tile.rows = at_most(rows_.rows.count - tile.r, Isa::tile_rows);
      if (seen && block.key_scales == nullptr) {
        rows_.template attend_tile<Steps>(tile, block, visible);
      } else {
        add_keys_to_tile(tile, block);
      }
    }
  }

  ATTEND_NOINLINE void add_keys_to_tile(const RowTile& tile, KeyBlock& block) {
    const QueryRow* const row = values_.row + tile.r;
    const BlockVisibility visibility = {row[0].visibility, row[tile.rows - 1].visibility, visibility_.all};
    int visible[Isa::tile_rows];  // of the block's keys, never falling
    for (int i = 0; i < tile.rows; ++i) visible[i] = at_least(at_most(row[i].visibility.end - block.key, block.to), 0);

    const int to = visibility.all ? block.to : visible[tile.rows - 1];
    int from = block.from;
    while (from < to && !visibility.has_any(block.key + from, block.key + from + panel_keys)) from += panel_keys;
    if (from >= to || (has_masks_ && !lets_any(tile, block.key + from, to - from))) return;
    Steps::score(tile.rows, rows_.query(tile.r), block.panels, from, to, rows_.scores);
    const bool gaps = modify_scores(tile, {block.key, from, to}, block.key_scales, visibility);
    if (visible[tile.rows - 1] > from) values_.add(tile, block, from, visible, gaps, visibility_);
  }

  // Whether all rows see by position what the last one does from a key on.
  static bool all_in_range(int key, const BlockVisibility& visibility) {
    return visibility.latest.first <= key && visibility.latest.begin <= key;
  }

  // Returns whether a row may not see a key between others.
  bool modify_scores(const RowTile& tile, const KeySpan& keys, const float* key_scales, const BlockVisibility& visibility) {
    const bool in_range = all_in_range(keys.key + keys.from, visibility);
    if (!modifies_scores_ && key_scales == nullptr && in_range) return false;
    score_mod_.apply(rows_.scores, values_.row + tile.r, tile.rows, keys, key_scales, !in_range);
    // With many rows, some row does not see some key.
    bool gaps = !in_range || (has_masks_ && rows_.rows.count > 2 * Isa::tile_rows);
    for (int i = 0; !gaps && has_masks_ && i < tile.rows; ++i) {
      gaps = any_masked<Isa>(rows_.scores + i * config::score_keys + keys.from, whole_panels(keys.to) - keys.from);
    }
    return gaps;
  }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreMod<Isa> score_mod_;
  const bool modifies_scores_;
  const bool has_masks_;
  const int key_block_;
  Walked rows_;
  MaskedValues<Isa> values_;
  BlockVisibility visibility_{};  // of the block's rows
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
