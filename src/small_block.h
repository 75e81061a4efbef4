// The algorithm for parts that are short of memory: as in row_block.h, which is for hosts, with less code and no copies.
//
//   for each block of rows: as many as a tile has, or one
//     for each chain of keys:  scores -> weights -> weighted sum of values
//     at the end of a segment: add its sums to the sums of the segments before it
//     divide by the denominator
//
// Keys are read as they lie, panels or not. Rows that are left over go one by one, as do rows that see different numbers of a
// chain's keys when it comes to values: a hidden value is never touched.
#pragma once

#include "../include/attend/core.h"
#include "chains.h"
#include "pack.h"
#include "softmax.h"

namespace attend {
namespace {

template <class Isa>
class SmallBlock {
  static constexpr int tile_rows = Isa::tile_rows;
  static_assert(tile_rows <= config::tile_rows, "the scratch has room for the scores of this many rows");
  static_assert(panel_keys % Isa::columns(1) == 0 && panel_keys % Isa::columns(tile_rows) == 0, "tiles do not cross panels");

 public:
  explicit SmallBlock(const core::Problem& problem) : problem_(problem) {
    // The same keys are seen with an offset beyond these, and the sums below cannot overflow.
    offset_ = at_most(at_least(problem.offset, -problem.queries), problem.keys);
    rows_ = problem.row_block < tile_rows ? 1 : tile_rows;
    many_segments_ = problem.keys > segment_keys;
    lane_sums_ = problem.scratch + (problem.row_block == 1 ? chain_keys : rows_ * config::score_keys);
    max_ = lane_sums_ + rows_ * panel_keys;
    total_max_ = max_ + rows_;
    total_sum_ = total_max_ + (many_segments_ ? rows_ : 0);
    sums_ = total_sum_ + (many_segments_ ? rows_ : 0);
    query_ = sums_ + (many_segments_ ? ptrdiff_t(rows_) * problem.value_dim : 0);
  }

  void run() {
    int group = 0;  // query heads that share a key/value head; without a division, which some processors lack
    for (int heads = problem_.query_heads; heads > 0; heads -= problem_.kv_heads) ++group;
    for (int kv_head = 0; kv_head < problem_.kv_heads; ++kv_head) {
      const float* keys = problem_.key.data + kv_head * problem_.key.head_stride;
      const float* values = problem_.value.data + kv_head * problem_.value.head_stride;
      int token = 0, head = 0;
      for (int left = group * problem_.queries; left > 0; left -= count_) {
        count_ = left < rows_ ? 1 : rows_;
        for (int r = 0; r < count_; ++r) {
          begin_row(r, token, kv_head * group + head);
          if (++head == group) {
            head = 0;
            ++token;
          }
        }
        go_over(keys, values);
      }
    }
  }

 private:
  // Row r is a token of a query head.
  void begin_row(int r, int token, int head) {
    output_[r] = problem_.output.data + token * problem_.output.token_stride + head * problem_.output.head_stride;
    seen_[r] = problem_.causal ? at_most(at_least(offset_ + token + 1, 0), problem_.keys) : problem_.keys;
    max_[r] = lowest_max;
    // With one row, queries are scaled whenever they are read: that takes no memory.
    const float* query = problem_.query.data + token * problem_.query.token_stride + head * problem_.query.head_stride;
    const float scale = base2_scale(problem_.scale);
    query_scale_ = problem_.row_block == 1 ? scale : 1.0f;
    if (problem_.row_block == 1) {
      queries_ = query;
    } else {
      queries_ = query_;
      multiply_row<Isa>(query, problem_.head_dim, Isa::broadcast(scale), query_ + ptrdiff_t(r) * problem_.head_dim);
    }
  }

  void go_over(const float* keys, const float* values) {
    const int key_end = seen_[count_ - 1];  // never falls from row to row
    int segment = 0;
    do {
      const int end = at_most(segment + segment_keys, key_end);
      fill_row<Isa>(0.0f, count_ * panel_keys, lane_sums_);
      for (int key = segment; key < end; key += chain_keys)
        chain(keys, values, key, at_most(chain_keys, end - key), key > segment);
      end_segment(segment);
      segment += segment_keys;
    } while (segment < key_end);
    for (int r = 0; r < count_; ++r) divide(r);
  }

  // One chain of keys for all rows. The first of a segment begins its sums; others add to them.
  void chain(const float* keys, const float* values, int key, int key_count, bool adds) {
    int visible[tile_rows];
    float* rows[tile_rows];
    for (int r = 0; r < count_; ++r) {
      visible[r] = at_most(at_least(seen_[r] - key, 0), key_count);
      rows[r] = scores(r);
    }
    Chains chains;
    chains.rows = count_;
    chains.a_stride = problem_.head_dim;
    chains.a_scale = query_scale_;
    chains.b_step = problem_.key_panels ? panel_keys : 1;
    chains.b_stride = problem_.key_panels ? 1 : problem_.key.token_stride;
    chains.to = rows;
    const int wide = Isa::columns(count_);
    for (int k = 0; k < key_count; k += wide) {
      // A panel is whole, whatever key_count is.
      chains.columns = problem_.key_panels ? wide : key_count - k;
      chains.column = k;
      chains.a = queries_;
      const int panel = (key + k) & -panel_keys;
      chains.b =
          keys + (problem_.key_panels ? ptrdiff_t(panel) * problem_.head_dim + (key + k - panel) : (key + k) * chains.b_stride);
      for (int left = problem_.head_dim; left > 0; left -= chain_dims) {
        chains.adds = left != problem_.head_dim;
        chains.steps = at_most(left, chain_dims);
        Isa::chains(chains);
        chains.a += chain_dims;
        chains.b += chain_dims * chains.b_step;
      }
    }

    for (int r = 0; r < count_; ++r) {
      rows[r] = sums(r);
      if (visible[r] > 0) {
        weigh_row<Isa>(scores(r), visible[r], max_[r], lane_sums_ + r * panel_keys, rows[r], problem_.value_dim);
      }
    }

    if (visible[0] != key_count) chains.rows = 1;
    chains.a_stride = config::score_keys;
    chains.a_scale = 1.0f;
    chains.b_step = problem_.value.token_stride;
    chains.b_stride = 1;
    chains.adds = adds;
    for (int r = 0; r < count_; r += chains.rows) {
      chains.steps = visible[r];
      if (chains.steps == 0) continue;
      chains.a = scores(r);
      chains.b = values + key * chains.b_step;
      chains.to = rows + r;
      chains.column = 0;
      for (chains.columns = problem_.value_dim; chains.columns > 0; chains.columns -= Isa::columns(chains.rows)) {
        Isa::chains(chains);
        chains.b += Isa::columns(chains.rows);
        chains.column += Isa::columns(chains.rows);
      }
    }
  }

  // Where there are many segments, adds the sums of one to the total, which is in the output: both in the scale of the row's
  // maximum, which only grows.
  void end_segment(int segment) {
    if (!many_segments_) return;
    for (int r = 0; r < count_; ++r) {
      if (segment > 0 && seen_[r] <= segment) continue;
      const float sum = add_lanes(lane_sums_ + r * panel_keys);
      if (segment == 0) {
        total_sum_[r] = sum;
        copy_row<Isa>(sums(r), problem_.value_dim, output_[r]);
      } else {
        const typename Isa::Vec factor = Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(total_max_[r] - max_[r]));
        total_sum_[r] = fused_multiply_add(total_sum_[r], Isa::highest_lane(factor), sum);
        add_row<Isa>(output_[r], problem_.value_dim, factor, sums(r));
      }
      total_max_[r] = max_[r];
    }
  }

  void divide(int r) {
    const float denominator = many_segments_ ? total_sum_[r] : add_lanes(lane_sums_ + r * panel_keys);
    divide_row<Isa>(output_[r], problem_.value_dim, denominator, output_[r]);
  }

  float* scores(int r) const { return problem_.scratch + r * config::score_keys; }
  float* sums(int r) const { return many_segments_ ? sums_ + ptrdiff_t(r) * problem_.value_dim : output_[r]; }

  const core::Problem& problem_;
  int offset_;
  int rows_;   // of a block: those of a tile, or 1
  int count_;  // of this block: the same, or 1
  bool many_segments_;
  float query_scale_;     // still to be multiplied with
  const float* queries_;  // [rows][head_dim]
  float* output_[tile_rows];
  int seen_[tile_rows];  // how many keys each row sees: they are the first ones
  // In the scratch, which begins with the scores, and then weights, of a chain of keys: [rows][score_keys].
  float* lane_sums_;  // [rows][16], denominators
  float* max_;        // [rows]
  float* total_max_;  // [rows], of the finished segments, when there are many
  float* total_sum_;  // [rows], likewise
  float* sums_;       // [rows][value_dim], of the current segment, when there are many
  float* query_;      // [rows][head_dim], scaled queries, unless a block has one row
};

}  // namespace
}  // namespace attend
