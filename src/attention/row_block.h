// The algorithm: a block of query rows of one key/value head goes over its keys.
//
//   scale the queries
//   for each block of keys, ascending, cut at segments:
//     for each tile of rows:  scores -> weights -> weighted sum of values
//       the tile's last block, if there is one segment: divide by the denominators
//     at the end of a segment: add its sums to the sums of the segments before it
//   divide by the denominators, if there are several
//
// A row is a (token, query head) pair: row = token * group + head within the group, so that all query heads that share keys
// read them together, and the number of visible keys never falls from one row to the next.
#pragma once

#include "../../include/attend/core.h"
#include "../kernel/pack.h"
#include "../kernel/tiles.h"
#include "combine.h"
#include "rows.h"
#include "short_decode.h"

namespace attend {
namespace {

template <class Isa>
class RowBlock {
  static_assert(Isa::tile_rows <= config::tile_rows, "the scratch has room for the scores of this many rows");

 public:
  explicit RowBlock(const core::Problem& problem)
      : problem_(problem),
        group_(problem.query_heads / problem.kv_heads),
        many_segments_(problem.keys > segment_keys),
        query_scale_(base2_scale(problem.scale)) {
    float* next = problem.scratch;
    const auto take = [&next](int floats_per_row, int row_count) {
      float* taken = next;
      next += ptrdiff_t(floats_per_row) * row_count;
      return taken;
    };
    const int rows = problem.row_block;
    const int packed_keys = problem.key_panels ? 0 : problem.key_block;
    panels_ = take(problem.head_dim, packed_keys);  // first: its vectors stay aligned
    values_ = take(problem.value_dim, packed_keys);
    scores_ = take(rows == 1 ? problem.key_block : config::score_keys, at_most(rows, config::tile_rows));
    lane_sums_ = take(panel_keys, rows);
    query_ = take(problem.head_dim, rows);
    sums_ = take(problem.value_dim, rows);
    scale_ = static_cast<SoftmaxState*>(static_cast<void*>(take(config::row_state, rows)));
    total_max_ = take(many_segments_, rows);
    total_sum_ = take(many_segments_, rows);
    key_block_ = rows == 1 ? problem.key_block : at_most(problem.key_block, config::score_keys);
  }

  // divides: the output is what it should be; otherwise it takes the sums of one segment (segments.h).
  void run(const Rows& rows, bool divides) {
    rows_ = rows;
    tiles_finish_ = divides && !many_segments_;
    const int key_end = visible_keys(problem_, row_after(rows.first, rows.count - 1).token);
    begin_rows();
    int segment = 0;
    do {
      const int end = at_most(segment + segment_keys, key_end);
      for (int key = segment; key < end || key == 0; key += key_block_) {
        go_over(key, at_most(key_block_, end - key), key > segment);
      }
      if (many_segments_) end_segment(segment);
      segment += segment_keys;
    } while (segment < key_end);
    if (tiles_finish_) return;
    for_each_row([&](int r, int token, int head) {
      float* output = element(problem_.output, token, head);
      const float denominator = many_segments_ ? total_sum_[r] : Isa::sum_lanes(lane_sums_ + r * panel_keys);
      const float* row = many_segments_ ? output : sums(r);
      if (divides) {
        divide_row<Isa>(row, problem_.value_dim, denominator, output);
      } else {
        store_partial_row<Isa>(row, problem_.value_dim, denominator, scale_[r].max, output);
      }
    });
  }

 private:
  // Calls with a row of the block, and its token and query head.
  template <class Call>
  ATTEND_ALWAYS_INLINE void for_each_row(Call call) const {
    attend::for_each_row(rows_, group_, call);
  }

  ATTEND_NOINLINE void begin_rows() {
    const typename Isa::Vec scale = Isa::broadcast(query_scale_);
    float* query = query_;
    for_each_row([&](int r, int token, int head) {
      scale_row<Isa>(element(problem_.query, token, head), problem_.head_dim, scale, query);
      query += problem_.head_dim;
      scale_[r] = empty_softmax_state();
    });
  }

  Row row_after(Row at, int rows) const { return attend::row_after(at, rows, group_); }

  // The sums of the current segment.
  float* sums(int r) const { return sums_ + ptrdiff_t(r) * problem_.value_dim; }

  bool has_few_panel() const { return problem_.keys <= few_panel_keys && !problem_.key_panels; }

  // Panels of `keys` keys from position `key`: those of a cache as they lie, others packed.
  const float* panels_at(int key, int keys) {
    const ptrdiff_t stride = problem_.key.token_stride;
    const float* from = problem_.key.data + rows_.head * problem_.key.head_stride;
    if (problem_.key_panels) return from + ptrdiff_t(key) * problem_.head_dim;
    if (has_few_panel()) {
      static_assert(chain_keys >= panel_keys, "the smallest key_block has room for one, and for what is read behind it");
      pack_few<Isa>(from, stride, keys, problem_.head_dim, panels_);
      return panels_;
    }
    for (int k = 0; k < keys; k += panel_keys) {
      pack_panel<Isa, panel_keys>(from + (key + k) * stride, stride, at_most(keys - k, panel_keys), problem_.head_dim,
                                  panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return panels_;
  }

  // Values of the same keys, gathered when several tiles of rows will read them, and many if they lie close together: far
  // apart, they share few sets of the cache.
  Values values_at(int key, int keys) {
    const ptrdiff_t stride = problem_.value.token_stride;
    const float* from = problem_.value.data + rows_.head * problem_.value.head_stride + key * stride;
    const int several = stride <= 256 ? 12 : 3;
    if (rows_.count <= several * Isa::tile_rows || problem_.key_panels || stride == problem_.value_dim)
      return {from, core::Format::float32, stride, chain_keys};
    for (int k = 0; k < keys; ++k)
      copy_row<Isa>(from + k * stride, problem_.value_dim, values_ + ptrdiff_t(k) * problem_.value_dim);
    return {values_, core::Format::float32, problem_.value_dim, chain_keys};
  }

  // `begun`: whether these are not the first keys of a segment.
  void go_over(int key, int keys, bool begun) {
    const Block block = {key, keys, begun, panels_at(key, keys), values_at(key, keys)};
    Row at = rows_.first;
    for (int r = 0, rows; r < rows_.count; r += rows) {
      rows = next_tile_rows<Isa>(rows_.count - r);
      const Row next = row_after(at, rows);
      tile(rows, r, at, block);
      at = next;
    }
  }

  // Some keys.
  struct Block {
    int key;
    int keys;
    bool begun;
    const float* panels;
    Values values;
  };

  // `rows` rows from row r on.
  void tile(int rows, int r, Row first, const Block& block) {
    int visible[Isa::tile_rows];  // of these keys, never falling
    if (visible_keys(problem_, first.token) - block.key >= block.keys) {
      for (int i = 0; i < rows; ++i) visible[i] = block.keys;
    } else if (group_ == 1) {
      for (int i = 0; i < rows; ++i)
        visible[i] = at_most(at_least(visible_keys(problem_, first.token + i) - block.key, 0), block.keys);
    } else {
      Row at = first;
      for (int i = 0; i < rows; ++i, at = row_after(at, 1)) {
        visible[i] = at_most(at_least(visible_keys(problem_, at.token) - block.key, 0), block.keys);
      }
    }
    const int most = visible[rows - 1];
    if (most > 0) {
      const Panels panels = {block.panels, core::Format::float32, nullptr, problem_.head_dim,
                             has_few_panel() ? few_panel_keys : panel_keys};
      const Sums sums_of_tile = {sums(r), problem_.value_dim, block.begun};
      score_tiles<Isa>(rows, query_ + ptrdiff_t(r) * problem_.head_dim, panels, 0, most, scores_);
      softmax_tiles<Isa>(rows, scores_, visible, scale_ + r, lane_sums_ + r * panel_keys, sums_of_tile);
      value_tiles<Isa>(rows, scores_, block.values, visible, sums_of_tile);
    } else if (!block.begun) {
      fill_row<Isa>(0.0f, rows * panel_keys, lane_sums_ + r * panel_keys);
    } else {
      return;
    }
    const int last = visible_keys(problem_, row_after(first, rows - 1).token);
    if (tiles_finish_ && last <= block.key + block.keys) finish(rows, r, first);
  }

  // Divides while the sums are in the first-level cache.
  ATTEND_ALWAYS_INLINE void finish(int rows, int r, Row at) {
    for (int i = 0; i < rows; ++i, at = row_after(at, 1)) {
      divide_row<Isa>(sums(r + i), problem_.value_dim, Isa::sum_lanes(lane_sums_ + (r + i) * panel_keys),
                      element(problem_.output, at.token, rows_.head * group_ + at.head));
    }
  }

  // Adds the segment's sums to the total, which is in the output: both in the scale of the row's maximum, which only grows.
  void end_segment(int segment) {
    for_each_row([&](int r, int token, int head) {
      if (segment > 0 && visible_keys(problem_, token) <= segment) return;
      const float sum = Isa::sum_lanes(lane_sums_ + r * panel_keys);
      float* total = element(problem_.output, token, head);
      if (segment == 0) {
        total_sum_[r] = sum;
        copy_row<Isa>(sums(r), problem_.value_dim, total);
      } else {
        const typename Isa::Vec factor =
            Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(total_max_[r] - scale_[r].max));
        total_sum_[r] = Scalar::fma(total_sum_[r], Isa::highest_lane(factor), sum);
        multiply_add_row<Isa>(total, problem_.value_dim, factor, sums(r), total);
      }
      total_max_[r] = scale_[r].max;
    });
  }

  const core::Problem& problem_;
  const int group_;  // query heads that share a key/value head
  const bool many_segments_;
  const float query_scale_;
  bool tiles_finish_ = false;  // whether a tile divides its sums when it has seen its last key
  int key_block_;
  Rows rows_;            // at most problem_.row_block
  float* panels_;        // [key_block / 16][head_dim][16], packed keys
  float* values_;        // [key_block][value_dim], gathered values
  float* scores_;        // [tile rows][score_keys], a tile's scores and then weights; [key_block] where there is one row
  float* lane_sums_;     // [rows][16], denominators
  float* query_;         // [rows][head_dim], scaled queries
  float* sums_;          // [rows][value_dim], of the current segment
  SoftmaxState* scale_;  // [rows]
  float* total_max_;     // [rows], of the finished segments, when there are many
  float* total_sum_;     // [rows], likewise
};

template <class Isa>
void run_problem(const core::Problem& problem, bool divides) {
  if (is_short_decode(problem)) return run_short_decode<Isa>(problem, divides);
  RowBlock<Isa> block(problem);
  for_each_block(problem, [&](const Rows& rows) { block.run(rows, divides); });
}

}  // namespace
}  // namespace attend
