// From scores to weighted values where rows may not see keys between others, or chains are open.
//
// A masked key has weight 0, and multiplying by that adds nothing to a sum, unless the value is infinite or no number. So
// values of blocks in which a row does not see a key between others are looked through once; where one is not finite, rows go
// key by key.
#ifndef ATTEND_ATTENTION_MASKED_VALUES_H
#define ATTEND_ATTENTION_MASKED_VALUES_H

#include "row_block.h"
#include "score_mod.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Isa>
struct MaskedValues {
  using Walked = RowBlock<Isa, AllFeatures>;
  using KeyBlock = typename Walked::KeyBlock;
  using Steps = Tiles<Isa>;

  MaskedValues(Walked& walked, QueryRow* rows_of_options) : rows(walked), row(rows_of_options) {}

  // Takes a tile's scores of the keys from `from` on, whole panels. Row i sees the keys below visible[i]. With gaps some of
  // these are masked; their score is -inf.
  void add(const RowTile& tile, KeyBlock& block, int from, const int* visible, bool gaps, const BlockVisibility& visibility) {
    const int r = tile.r, count = tile.rows, to = visible[count - 1];
    int seen[Isa::tile_rows];
    float before[Isa::tile_rows];
    for (int i = 0; i < count; ++i) {
      seen[i] = at_least(visible[i] - from, 0);
      before[i] = rows.sums.softmax[r + i].max;
    }
    const Sums sums = rows.sums.of_segment(r, true);
    Steps::softmax(count, rows.scores + from, seen, rows.sums.softmax + r, rows.sums.lane_sums(r), sums);
    for (int i = 0; i < count && rows.has_states(); ++i) rows.sums.move_chain(r + i, before[i]);
    const bool by_keys = gaps && !rows.keys.are_finite(block, visibility);
    if (visible[0] != to) rows.keys.widen_values(block, visibility);

    // Chains of which this call has only a part go key by key too.
    const int begin = visibility.earliest.begin;
    const auto is_whole = [&](int chain) {
      return !by_keys &&
             (!rows.has_states() || (block.key + chain >= begin && block.key + chain + chain_keys <= rows.problem.keys));
    };
    int k = at_least(from, begin - block.key);
    for (int next; k < to; k = next) {
      const int chain = k & -chain_keys;
      next = chain + chain_keys;
      if (!is_whole(chain)) {
        rows.keys.widen_values(block, visibility);
        add_by_keys(tile, block, k, at_most(next, to));
        continue;
      }
      while (next < to && is_whole(next)) next += chain_keys;
      next = at_most(next, to);
      if (block.value_scales != nullptr) rows.scale_weights(count, k & -panel_keys, next, block.value_scales);
      for (int i = 0; i < count; ++i) seen[i] = at_most(at_least(visible[i] - k, 0), next - k);
      Values values = block.values;
      values.data = moved(static_cast<const float*>(values.data), k * values.stride, values.format);
      values.first_chain = chain + chain_keys - k;
      Steps::value(count, rows.scores + k, values, seen, sums);
    }
  }

  // Values of keys begin ... end - 1, of one chain, for rows by themselves, without the keys that they do not see. The chain
  // stays open where the next call goes on with it.
  ATTEND_NOINLINE void add_by_keys(const RowTile& tile, const KeyBlock& block, int begin, int end) {
    const core::Problem& problem = rows.problem;
    const float* const values = static_cast<const float*>(block.values.data);
    const int chain_end = block.key + (begin & -chain_keys) + chain_keys;
    const float* weights = rows.scores;
    for (int r = tile.r; r < tile.r + tile.rows; ++r, weights += config::score_keys) {
      float* const chain = rows.sums.chain(r);
      if (!rows.has_states()) fill_row<Isa>(0.0f, problem.value_dim, chain);
      for (int j = begin; j < end; ++j) {
        const int key = block.key + j;
        if (!row[r].visibility.has(key)) continue;
        if (magnitude(weights[j]) == 0 && !is_let_through(problem, rows.options, row[r].token, row[r].head, key)) continue;
        const float weight = block.value_scales == nullptr ? weights[j] : weights[j] * block.value_scales[j];
        multiply_add_row<Isa>(values + j * block.values.stride, problem.value_dim, Isa::broadcast(weight), chain, chain);
      }
      if (!rows.has_states() || chain_end <= problem.keys) rows.sums.end_chain(r);
    }
  }

  Walked& rows;
  QueryRow* const row;  // [rows]
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
