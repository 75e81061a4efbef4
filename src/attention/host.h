// The algorithm on hosts: a block of query rows of one key/value head goes over its keys.
//
//   scale the queries
//   for each block of keys that any row sees some of by position, ascending, cut at segments:
//     for each tile of rows:  scores -> score modifications -> weights -> weighted sum of values
//       plain calls, after the tile's last block, if there is one segment: divide by the denominators
//     at the end of a segment: add its sums to the sums of the segments before it
//   epilogue: divide by the denominators
//
// A row is a (token, query head) pair: row = token * group + head within the group, so that all query heads that share keys
// read them together, and what a row sees by position begins and ends no earlier than for the row before.
//
// A masked key has weight 0, and multiplying by that adds nothing to a sum, unless the value is infinite or no number. So
// values of blocks in which a row does not see a key between others are looked through once; where one is not finite, rows go
// key by key.
#pragma once

#include "../kernel/epilogue.h"
#include "../kernel/tiles.h"
#include "../simd/contract.h"
#include "combine.h"
#include "features.h"
#include "fused_score_mod.h"
#include "key_source.h"
#include "row_sums.h"
#include "rows.h"
#include "score_mod.h"
#include "short_decode.h"

namespace attend {
namespace {

// Options that a call without features does not have.
constexpr core::Options no_options = {};

// What happens to scores; in plain calls nothing.
struct PlainScores {
  PlainScores(const core::Problem& problem, const core::Options&) : query_scale_(base2_scale(problem.scale)) {}
  float query_scale() const { return query_scale_; }

 private:
  float query_scale_;
};
template <class Isa, bool modifies>
struct ScoreModOf {
  using Type = ScoreMod<Isa>;
};
template <class Isa>
struct ScoreModOf<Isa, false> {
  using Type = PlainScores;
};

template <class Isa, class Features, class Backend>
class HostPipeline {
  static_assert(has_host_operations<Isa>(), "");

 public:
  HostPipeline(const core::Problem& problem, const core::Options& options, const core::HostWorkMemory& at)
      : problem_(problem),
        options_(options),
        score_mod_(problem, options),
        group_(problem.query_heads / problem.kv_heads),
        dims_(problem.value_dim),
        has_states_(Features::states && has_states(options)),
        modifies_scores_(Features::score_mods && modifies_scores(options)),
        has_masks_(Features::visibility && has_masks(options)),
        only_score_mod_(Features::score_mods ? score_use(options).only : OnlyScoreMod::none),
        stop_(has_states_ ? problem.keys : past_all_keys),
        key_block_(problem.row_block > 1 ? at_most(problem.key_block, config::score_keys)
                   : Features::sources   ? at_most(problem.key_block, decode_block(options))
                                         : problem.key_block),
        keys_(problem, &options, at),
        sums_(problem.scratch, at, problem.value_dim, has_states_),
        scores_(problem.scratch + at.scores),
        query_(problem.scratch + at.query),
        row_(static_cast<QueryRow*>(static_cast<void*>(problem.scratch + at.query_rows))) {}

  // divides: the output is what it should be; otherwise it takes the sums of one segment (combine.h).
  void run(const Rows& rows, bool divides) {
    rows_ = rows;
    keys_.take_head(rows.head);
    sums_.begin_block();
    begin_rows();
    if constexpr (Features::any) {
      go_over_visible_keys();
      end_rows();
    } else {
      tiles_finish_ = divides && problem_.keys <= segment_keys;
      const int last_segment = go_over_first_keys();
      if (!tiles_finish_) end_plain_rows(divides, last_segment);
    }
  }

 private:
  using Block = typename KeySource<Isa, Features>::Block;
  using Tiles = core::Tiles<Backend>;

  // Some rows, from row r on, of which the first is `at`.
  struct RowTile {
    int r;
    int rows;
    Row at;
    int last_token;  // plain calls
  };

  // Calls with a row of the block, and its token and query head.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_row(Call call) const {
    attend::for_each_row(rows_, group_, call);
  }

  Row row_after(Row at, int rows) const { return attend::row_after(at, rows, group_); }

  ATTEND_NOINLINE void begin_rows() {
    const typename Isa::Vec scale = Isa::broadcast(score_mod_.query_scale());
    float* query = query_;
    for_each_row([&](int r, int token, int head) {
      const ptrdiff_t at = token * problem_.query.token_stride + head * problem_.query.head_stride;
      if constexpr (Features::sources) {
        scale_row<Isa>(query_as_floats(at, query), problem_.head_dim, scale, query);
      } else {
        scale_row<Isa>(problem_.query.data + at, problem_.head_dim, scale, query);
      }
      query += problem_.head_dim;
      if constexpr (Features::any) {
        row_[r] = query_row(problem_, options_, token, head);
        score_mod_.begin(token, head);
      }
      if (Features::states && has_states_ && !options_.begins) {
        sums_.load(r, RowState(element(options_.states, token, head), dims_));
      } else {
        sums_.begin(r);
      }
    });
    if constexpr (Features::any) {
      visibility_of_all_ = {row_[0].visibility, row_[rows_.count - 1].visibility, shows_hidden(options_)};
      goes_straight_ = !modifies_scores_ && keys_.widens_in_registers(rows_.count);
    }
  }

  // A query where it lies, or widened to `work`.
  const float* query_as_floats(ptrdiff_t at, float* work) const {
    const float* const from = moved(problem_.query.data, at, options_.query_format);
    if (options_.query_format == core::Format::float32) return from;
    widen_row<Isa>(options_.query_format, from, problem_.head_dim, work);
    return work;
  }

  // Plain calls: all rows see keys from 0 on. Returns where the last segment begins.
  int go_over_first_keys() {
    const int key_end = visible_keys(problem_, row_after(rows_.first, rows_.count - 1).token);
    for (int segment = 0;; segment += segment_keys) {
      const int end = at_most(segment + segment_keys, key_end);
      for (int key = segment; key < end || key == 0; key += key_block_) {
        Block block = keys_.block(key, 0, at_most(key_block_, end - key), {}, rows_.count);
        block.begun = key > segment;
        go_over(block);
      }
      if (segment + segment_keys >= key_end) return segment;
      for_each_row([&](int r, int token, int head) {
        if (sees_segment(token, segment)) sums_.end_segment(r, element(problem_.output, token, head));
      });
      sums_.end_segments();
    }
  }

  bool sees_segment(int token, int segment) const { return segment == 0 || visible_keys(problem_, token) > segment; }

  void end_plain_rows(bool divides, int last_segment) {
    for_each_row([&](int r, int token, int head) {
      float* const output = element(problem_.output, token, head);
      const auto result = sums_.result(r, output, sees_segment(token, last_segment));
      if (divides) {
        divide_row<Isa>(result.sums, dims_, result.denominator, output);
      } else {
        store_partial_row<Isa>(result.sums, dims_, result.denominator, sums_.softmax[r].max, output);
      }
    });
  }

  void end_rows() {
    for_each_row([&](int r, int token, int head) {
      if (has_states_) return sums_.save(r, RowState(element(options_.states, token, head), dims_));
      const float* sink = options_.sinks == nullptr ? nullptr : options_.sinks + head;
      const auto result = sums_.result(r, sums_.total(r), true);
      const Denominator all = denominator_of(result.denominator, sums_.softmax[r].max, sink);
      if (options_.scores.data != nullptr && options_.score_stage == core::Scores::weights) {
        float* const shown = score_mod_.shown(token, head);
        finish_weights<Isa>(shown, options_.score_keys, sums_.softmax[r].max, all, scores_);
      }
      epilogue_row<Isa>(problem_, options_, token, head, result.sums, all);
    });
  }

  // Calls with features: all keys that some row sees by position and masks.
  void go_over_visible_keys() {
    const Visibility &earliest = visibility_of_all_.earliest, &latest = visibility_of_all_.latest;
    const int end = visibility_of_all_.all ? problem_.keys : latest.end;
    int key = earliest.begin & -chain_keys;
    int last = has_states_ ? options_.first_key & -chain_keys : key;  // the open chain, if there is one
    Block block;
    while (key < end && earliest.begin < end) {
      int chains = chain_keys;
      if (const int all = seen_by_all(key); all > 0 && keys_.typed_block(key, all, block)) {
        chains = all;
        go_to(last, key);
        int visible[typed_rows];
        for (int& count : visible) count = block.to;
        go_straight({0, rows_.count, {}, 0}, block, visible);
        last = key + chains - chain_keys;
      } else if (is_needed(key, end)) {
        // Chains that lie together, of one segment; the first alone if it was begun in another call.
        const int most = key < earliest.begin ? chain_keys : at_most(key_block_, segment_keys - key % segment_keys);
        while (chains < most && key + chains < end && is_needed(key + chains, end)) chains += chain_keys;
        go_to(last, key);
        go_over_seen_groups(key, at_most(chains, end - key));
        last = key + chains - chain_keys;
      } else if (!visibility_of_all_.has_any(key, key + chain_keys)) {
        chains = at_least(chain_keys, (earliest.first & -chain_keys) - key);
      }
      key += chains;
    }
    if (has_states_) go_to(last, stop_);
  }

  // Of keys that rows read in their format: how many whole chains, of one segment, they all see, and nothing happens to scores.
  int seen_by_all(int key) const {
    const Visibility &earliest = visibility_of_all_.earliest, &latest = visibility_of_all_.latest;
    if (!goes_straight_ || earliest.begin > key || latest.first > key) return 0;
    return at_most(at_most(key_block_, segment_keys - key % segment_keys), (earliest.end - key) & -chain_keys);
  }

  // From scores to weighted values for rows of which each sees the first visible[row] of a block's keys, and nothing else
  // happens to scores.
  void go_straight(const RowTile& tile, const Block& block, const int* visible) {
    const int rows = tile.rows, most = visible[rows - 1];
    const Sums sums = sums_.of_segment(tile.r, block.begun);
    Tiles::score(rows, query(tile.r), block.panels, 0, most, scores_);
    Tiles::softmax(rows, scores_, visible, sums_.softmax + tile.r, sums_.lane_sums(tile.r), sums);
    if (Features::sources && block.value_scales != nullptr) scale_weights(rows, 0, most, block.value_scales);
    Tiles::value(rows, scores_, block.values, visible, sums);
  }

  // Whether any row may see any key of a chain.
  bool is_needed(int key, int end) const {
    return visibility_of_all_.has_any(key, key + chain_keys) &&
           (!has_masks_ || lets_any({0, rows_.count, {}, 0}, key, 0, at_most(end - key, chain_keys)));
  }

  // Ends the chain and the segment of a key that the next one is not of.
  void go_to(int key, int next) {
    const bool another_chain = has_states_ && next / chain_keys != key / chain_keys;
    const bool another_segment = next / segment_keys != key / segment_keys;
    for (int r = 0; another_chain && r < rows_.count; ++r) sums_.end_chain(r);
    if (!another_segment) return;
    for (int r = 0; r < rows_.count; ++r) sums_.end_segment(r, sums_.total(r));
    sums_.end_segments();
  }

  // Leaves out groups of 16 at both ends that nobody sees.
  void go_over_seen_groups(int key, int to) {
    int from = at_least(visibility_of_all_.earliest.begin - key, 0) & -panel_keys;
    while (!visibility_of_all_.has_any(key + from, key + from + panel_keys)) from += panel_keys;
    for (int last; last = (to - 1) & -panel_keys, !visibility_of_all_.has_any(key + last, key + to);) to = last;
    Block block = keys_.block(key, from, to, visibility_of_all_, rows_.count);
    block.begun = true;
    go_over(block);
  }

  void go_over(Block& block) {
    RowTile tile = {0, 0, rows_.first, 0};
    for (; tile.r < rows_.count; tile.r += tile.rows) {
      const int left = rows_.count - tile.r;
      tile.rows = next_tile_rows<Isa>(left);
      if constexpr (Features::any) {
        go_over_tile(tile, block);
      } else {
        // Keys of a chain and their values stay in the first-level cache from kernel to kernel by themselves.
        const bool few = block.to <= chain_keys;
        if (few) tile.rows = kernel_rows<Isa, float>(left);
        const Row next = row_after(tile.at, tile.rows);
        tile.last_token = next.head > 0 ? next.token : next.token - 1;
        if (few) {
          with_rows<Isa, float, most_rows<Isa, float>>(
              tile.rows, [&](auto count) { go_over_few_keys<decltype(count)::value>(tile, block); });
        } else {
          go_over_plain_tile(tile, block);
        }
        tile.at = next;
      }
    }
  }

  ATTEND_NOINLINE void go_over_plain_tile(const RowTile& tile, Block& block) {
    int visible[Isa::tile_rows];  // of these keys, never falling
    see(tile, tile.rows, block, visible);
    if (visible[tile.rows - 1] > 0) {
      go_straight(tile, block, visible);
    } else if (!sees_nothing(tile, block)) {
      return;
    }
    end_tile(tile, block);
  }

  // The same for a tile that one kernel takes and keys of one chain: where they are few, the bookkeeping counts.
  template <int rows>
  ATTEND_NOINLINE void go_over_few_keys(const RowTile& tile, Block& block) {
    int visible[rows];
    if (visible_keys(problem_, tile.at.token) - block.key >= block.to) {
      ATTEND_UNROLL
      for (int i = 0; i < rows; ++i) visible[i] = block.to;
    } else if (group_ == 1) {
      const int end = causal_end(problem_, tile.at.token) - block.key;
      ATTEND_UNROLL
      for (int i = 0; i < rows; ++i) visible[i] = at_most(at_least(end + i, 0), block.to);
    } else {
      see(tile, rows, block, visible);
    }
    if (visible[rows - 1] > 0) {
      go_straight_through<rows>(tile, block, visible);
    } else if (!sees_nothing(tile, block)) {
      return;
    }
    end_tile(tile, block);
  }

  // go_straight for floats: one choice of kernels instead of several.
  template <int rows>
  ATTEND_ALWAYS_INLINE void go_straight_through(const RowTile& tile, const Block& block, const int* visible) {
    const float* const keys = static_cast<const float*>(block.panels.data);
    if (block.panels.width == panel_keys) {
      score_rows<Isa, float, rows>(query(tile.r), keys, problem_.head_dim, nullptr, visible[rows - 1], scores_);
    } else {
      score_tile<Isa, float, rows, 1, few_panel_keys>(query(tile.r), keys, problem_.head_dim, nullptr, scores_);
    }
    const Sums sums = sums_.of_segment(tile.r, block.begun);
    constexpr int some = Isa::softmax_rows(rows);
    static_assert(rows % some == 0, "a kernel's rows are weighed in equal parts");
    for (int i = 0; i < rows; i += some) {
      softmax_side_by_side<Isa, some, NoScoreMod>(scores_ + i * config::score_keys, visible + i, sums_.softmax + tile.r + i,
                                                  sums_.lane_sums(tile.r + i), sums_from(sums, i), {});
    }
    const ValueRows<float> values = {static_cast<const float*>(block.values.data), block.values.stride, chain_keys};
    value_columns<Isa, float, rows>(scores_, values, visible, sums, 0, dims_);
  }

  // How many keys of a block the rows of a tile see.
  ATTEND_NOINLINE void see(const RowTile& tile, int rows, const Block& block, int* visible) const {
    Row at = tile.at;
    if (visible_keys(problem_, at.token) - block.key >= block.to) {
      for (int i = 0; i < rows; ++i) visible[i] = block.to;
    } else {
      for (int i = 0; i < rows; ++i, at = row_after(at, 1)) visible[i] = visible_of_block(at.token, block);
    }
  }

  // Of a tile that sees none of a block's keys. Returns whether those were its first.
  bool sees_nothing(const RowTile& tile, const Block& block) const {
    if (!block.begun) fill_row<Isa>(0.0f, tile.rows * panel_keys, sums_.lane_sums(tile.r));
    return !block.begun;
  }

  void end_tile(const RowTile& tile, const Block& block) {
    if (tiles_finish_ && visible_keys(problem_, tile.last_token) <= block.key + block.to) divide(tile);
  }

  int visible_of_block(int token, const Block& block) const {
    return at_most(at_least(visible_keys(problem_, token) - block.key, 0), block.to);
  }

  // Divides while the sums are in the first-level cache.
  ATTEND_NOINLINE void divide(const RowTile& tile) {
    Row at = tile.at;
    for (int r = tile.r; r < tile.r + tile.rows; ++r, at = row_after(at, 1)) {
      float* const output = element(problem_.output, at.token, rows_.head * group_ + at.head);
      divide_row<Isa>(sums_.sums(r), dims_, sums_.denominator(r), output);
    }
  }

  // Keys of a block, from [from] on, a whole number of panels, that a tile's rows see some of by position.
  struct Keys {
    int from;
    int to;
  };

  ATTEND_NOINLINE void go_over_tile(const RowTile& tile, Block& block) {
    const int r = tile.r, rows = tile.rows;
    const BlockVisibility visibility = {row_[r].visibility, row_[r + rows - 1].visibility, visibility_of_all_.all};
    Keys keys = {block.from, visibility.all ? block.to : at_most(visibility.latest.end - block.key, block.to)};
    while (keys.from < keys.to && !visibility.has_any(block.key + keys.from, block.key + keys.from + panel_keys)) {
      keys.from += panel_keys;
    }
    if (keys.from >= keys.to || !lets_any(tile, block.key, keys.from, keys.to)) return;

    Tiles::score(rows, query(r), block.panels, keys.from, keys.to, scores_);
    const bool fused = can_fuse_score_mod(tile, block, keys, visibility);
    const bool gaps = fused ? has_masks_ : modify_scores(tile, block, keys, visibility);

    int visible[Isa::tile_rows];  // from keys.from on, never falling
    float before[Isa::tile_rows];
    for (int i = 0; i < rows; ++i) {
      visible[i] = at_least(at_most(row_[r + i].visibility.end - block.key, block.to) - keys.from, 0);
      before[i] = sums_.softmax[r + i].max;
    }
    if (visible[rows - 1] == 0) return;
    weigh(tile, block.key + keys.from, scores_ + keys.from, visible, fused);
    for (int i = 0; i < rows && has_states_; ++i) sums_.move_chain(r + i, before[i]);
    const bool by_keys = gaps && !keys_.are_finite(block, visibility_of_all_);
    keys.to = keys.from + visible[rows - 1];
    if (visible[0] != visible[rows - 1]) keys_.widen_values(block, visibility_of_all_);
    add_values(tile, block, keys, visible, by_keys);
  }

  // Scores to weights; on the way what can_fuse_score_mod allowed.
  void weigh(const RowTile& tile, int key, float* scores, const int* visible, bool fused) {
    const int r = tile.r;
    if (!fused) {
      return Tiles::softmax(tile.rows, scores, visible, sums_.softmax + r, sums_.lane_sums(r), sums_.of_segment(r, true));
    }
    with_score_mod<Isa>(only_score_mod_, options_, row_ + r, key, score_mod_.cap(), [&](auto mod) {
      online_softmax<Isa, Isa::tile_rows>(scores, visible, sums_.softmax + r, sums_.lane_sums(r), sums_.of_segment(r, true),
                                          mod);
    });
  }

  // Whether all that options do is one modification that is soon done, to whole panels that all rows see by position. Where
  // rows are few, masks must be looked at for gaps.
  bool can_fuse_score_mod(const RowTile& tile, const Block& block, const Keys& keys, const BlockVisibility& visibility) const {
    if (tile.rows != Isa::tile_rows || only_score_mod_ == OnlyScoreMod::none || rows_.count <= 2 * Isa::tile_rows ||
        visibility.all) {
      return false;
    }
    const int begin = block.key + keys.from, end = block.key + keys.to;
    const bool in_range =
        visibility.latest.first <= begin && visibility.latest.begin <= begin && visibility.earliest.end >= end;
    const core::Mask& mask = only_score_mod_ == OnlyScoreMod::bias ? options_.bias : options_.visible;
    return in_range && (!has_masks_ || mask.keys >= end) && (keys.to - keys.from) % panel_keys == 0;
  }

  // Returns whether a row may not see a key between others.
  bool modify_scores(const RowTile& tile, const Block& block, const Keys& keys, const BlockVisibility& visibility) {
    const int begin = block.key + keys.from;
    const bool all_in_range = visibility.latest.first <= begin && visibility.latest.begin <= begin;
    if (!modifies_scores_ && block.key_scales == nullptr && all_in_range) return false;
    score_mod_.apply(scores_, row_ + tile.r, tile.rows, {block.key, keys.from, keys.to}, block.key_scales, !all_in_range);
    // Of many rows, some will not see some key.
    bool gaps = !all_in_range || (has_masks_ && rows_.count > 2 * Isa::tile_rows);
    for (int i = 0; !gaps && has_masks_ && i < tile.rows; ++i) {
      gaps = any_hidden<Isa>(scores_ + i * config::score_keys + keys.from, whole_panels(keys.to) - keys.from);
    }
    return gaps;
  }

  // Weighted values. Chains that this call does not have from their beginning to their end, and rows that must leave out keys
  // between others, go key by key.
  //   visible  [rows] how many keys a row sees, from keys.from on
  void add_values(const RowTile& tile, Block& block, const Keys& keys, const int* visible, bool by_keys) {
    const int call_begin = visibility_of_all_.earliest.begin;
    const auto is_whole = [&](int chain) {
      return !by_keys && (!has_states_ || (block.key + chain >= call_begin && block.key + chain + chain_keys <= stop_));
    };
    int k = at_least(keys.from, call_begin - block.key);
    for (int next; k < keys.to; k = next) {
      const int chain = k & -chain_keys;
      next = chain + chain_keys;
      if (!is_whole(chain)) {
        go_by_keys(tile, block, k, at_most(next, keys.to));
        continue;
      }
      while (next < keys.to && is_whole(next)) next += chain_keys;
      next = at_most(next, keys.to);
      if (block.value_scales != nullptr) scale_weights(tile.rows, k & -panel_keys, next, block.value_scales);
      int visible_here[Isa::tile_rows];
      for (int i = 0; i < tile.rows; ++i) visible_here[i] = at_most(at_least(keys.from + visible[i] - k, 0), next - k);
      Values values = block.values;
      values.data = moved(static_cast<const float*>(values.data), k * values.stride, values.format);
      values.first_chain = chain + chain_keys - k;
      Tiles::value(tile.rows, scores_ + k, values, visible_here, sums_.of_segment(tile.r, true));
    }
  }

  // Weights that multiply values; the denominators have theirs. Masked keys have weight 0 and scales that are numbers, or they
  // are not read.
  void scale_weights(int rows, int from, int to, const float* scales) const {
    float* weights = scores_;
    for (int i = 0; i < rows; ++i, weights += config::score_keys) {
      for (int k = from; k < to; k += Isa::lanes) {
        Isa::store(weights + k, Isa::mul(Isa::load(weights + k), Isa::load(scales + k)));
      }
    }
  }

  // Values of keys begin ... end - 1, of one chain, for rows by themselves, without the keys that they do not see. The chain
  // stays open where the next call goes on with it.
  ATTEND_NOINLINE void go_by_keys(const RowTile& tile, Block& block, int begin, int end) {
    keys_.widen_values(block, visibility_of_all_);
    const float* const values = static_cast<const float*>(block.values.data);
    const bool ends = !has_states_ || block.key + (begin & -chain_keys) + chain_keys <= stop_;
    const float* weights = scores_;
    for (int r = tile.r; r < tile.r + tile.rows; ++r, weights += config::score_keys) {
      const QueryRow& row = row_[r];
      float* const chain = sums_.chain(r);
      if (!has_states_) fill_row<Isa>(0.0f, dims_, chain);
      for (int j = begin; j < end; ++j) {
        const int key = block.key + j;
        if (!row.visibility.has(key)) continue;
        if (magnitude(weights[j]) == 0 && !is_let_through(problem_, options_, row.token, row.head, key)) continue;
        const float weight = block.value_scales == nullptr ? weights[j] : weights[j] * block.value_scales[j];
        multiply_add_row<Isa>(values + j * block.values.stride, dims_, Isa::broadcast(weight), chain, chain);
      }
      if (ends) sums_.end_chain(r);
    }
  }

  // Whether masks let any of the rows see any of some keys; scores of masked keys may be wanted all the same.
  bool lets_any(const RowTile& tile, int key, int from, int to) const {
    if (!has_masks_ || visibility_of_all_.all) return true;
    for (int r = tile.r; r < tile.r + tile.rows; ++r) {
      if (lets_any_through(options_, row_[r].visible, row_[r].bias, key + from, to - from)) return true;
    }
    return false;
  }

  const float* query(int r) const { return query_ + ptrdiff_t(r) * problem_.head_dim; }

  const core::Problem& problem_;
  const core::Options& options_;
  const typename ScoreModOf<Isa, Features::any>::Type score_mod_;
  const int group_;  // query heads that share a key/value head
  const int dims_;   // of a value
  const bool has_states_;
  const bool modifies_scores_;
  const bool has_masks_;
  const OnlyScoreMod only_score_mod_;
  const int stop_;  // where the call stops; past all keys if that is the end
  const int key_block_;
  KeySource<Isa, Features> keys_;
  RowSums<Isa, Features> sums_;
  float* const scores_;  // [tile rows][score_keys], a tile's scores and then weights; [key_block] where there is one row
  float* const query_;   // [rows][head_dim], scaled queries
  QueryRow* const row_;  // [rows], with features
  Rows rows_{};          // at most problem.row_block
  BlockVisibility visibility_of_all_{};  // of these, with features
  bool goes_straight_ = false;           // whether they may, where they see all keys
  bool tiles_finish_ = false;            // whether a tile divides its sums when it has seen its last key
};

template <class Isa, class Backend>
ATTEND_NOINLINE void run_blocks(const core::Problem& problem, bool divides) {
  const core::HostWorkMemory memory({problem.row_block, problem.key_block, problem.head_dim, problem.value_dim,
                                     !problem.key_panels, problem.keys > segment_keys},
                                    false);
  HostPipeline<Isa, NoFeatures, Backend> pipeline(problem, no_options, memory);
  for_each_block(problem, [&](const Rows& rows) { pipeline.run(rows, divides); });
}

// Either has a frame of its own, so that a call needs the stack of one.
template <class Isa, class Backend>
void run_problem(const core::Problem& problem, bool divides) {
  if (is_short_decode(problem)) return run_short_decode<Isa>(problem, divides);
  run_blocks<Isa, Backend>(problem, divides);
}

template <class Isa, class Backend>
void run_with_options(const core::Problem& problem, const core::Options& options) {
  const core::HostWorkMemory memory({problem.row_block, problem.key_block, problem.head_dim, problem.value_dim, true, true},
                                    true);
  HostPipeline<Isa, AllFeatures, Backend> pipeline(problem, options, memory);
  for_each_block(problem, [&](const Rows& rows) { pipeline.run(rows, true); });
}

}  // namespace
}  // namespace attend
