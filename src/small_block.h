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
#include "segments.h"
#include "simd/contract.h"
#include "softmax.h"

namespace attend {
namespace {

template <class Isa>
class SmallBlock {
  static constexpr int tile_rows = Isa::tile_rows;
  static_assert(has_small_operations<Isa>(), "");
  static_assert(panel_keys % Isa::columns(1, false) == 0 && panel_keys % Isa::columns(tile_rows, false) == 0,
                "tiles do not cross panels");

 public:
  ATTEND_INSIDE explicit SmallBlock(const core::Problem& problem) : problem_(problem) {
    rows_ = problem.row_block < tile_rows ? 1 : tile_rows;
    scale_ = base2_scale(problem.scale);
    rows_state_ = problem.scratch + (problem.row_block == 1 ? chain_keys : rows_ * config::score_keys);
  }

  // divides: the output is what it should be; otherwise it takes the sums of one segment (segments.h).
  template <bool divides>
  void run() {
    int group = 0;  // query heads that share a key/value head; without a division, which some processors lack
    for (int heads = problem_.query_heads; heads > 0; heads -= problem_.kv_heads) ++group;
    keys_ = problem_.key.data;
    values_ = problem_.value.data;
    for (int first_head = 0; first_head < problem_.query_heads; first_head += group) {
      int token = 0, head = 0;
      for (int left = group * problem_.queries; left > 0; left -= count_) {
        count_ = left < rows_ ? 1 : rows_;
        for (int r = 0; r < count_; ++r) {
          begin_row(r, token, first_head + head);
          if (++head == group) {
            head = 0;
            ++token;
          }
        }
        if constexpr (divides) {
          go_over();
        } else {
          keep_segment();
        }
      }
      keys_ += problem_.key.head_stride;
      values_ += problem_.value.head_stride;
    }
  }

 private:
  // Row r is a token of a query head.
  ATTEND_APART void begin_row(int r, int token, int head) {
    output_[r] = problem_.output.data + token * problem_.output.token_stride + head * problem_.output.head_stride;
    seen_[r] = problem_.keys;
    if (problem_.causal) {
      // The same keys are seen with an offset beyond these, and the sum cannot overflow.
      const int offset = at_most(at_least(problem_.offset, -problem_.queries), problem_.keys);
      seen_[r] = at_most(at_least(offset + token + 1, 0), problem_.keys);
    }
    max(r) = lowest_max;
    queries_ = problem_.query.data + token * problem_.query.token_stride + head * problem_.query.head_stride;
    if (scaled()) {
      float* to = after_state() + ptrdiff_t(r) * problem_.head_dim;
      multiply_row<Isa>(queries_, problem_.head_dim, Isa::broadcast(scale_), to);
      queries_ = after_state();
    }
  }

  // All keys, for the rows that were begun.
  void go_over() {
    int segment = 0;
    do {
      for (int r = 0; r < count_; ++r) fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
      const int end = at_most(segment + segment_keys, seen_[count_ - 1]);  // never falls from row to row
      for (int key = segment; key < end; key += chain_keys) chain(key, at_most(chain_keys, end - key), key > segment);
      if (many_segments()) end_segment(segment);
      segment += segment_keys;
    } while (segment < seen_[count_ - 1]);
    for (int r = 0; r < count_; ++r) {
      const float denominator = many_segments() ? total(r)[0] : add_lanes<Isa>(lane_sums(r));
      divide_row<Isa>(output_[r], problem_.value_dim, denominator, output_[r]);
    }
  }

  // The same for the keys of one segment, whose sums are kept. A row that sees none of them keeps no sums: they are not read.
  void keep_segment() {
    for (int r = 0; r < count_; ++r) fill_row<Isa>(0.0f, panel_keys, lane_sums(r));
    const int end = seen_[count_ - 1];
    for (int key = 0; key < end; key += chain_keys) chain(key, at_most(chain_keys, end - key), key > 0);
    for (int r = 0; r < count_; ++r) {
      keep_row<Isa>(output_[r], problem_.value_dim, add_lanes<Isa>(lane_sums(r)), max(r), output_[r]);
    }
  }

  // One chain of keys for all rows. The first of a segment begins its sums; others add to them.
  ATTEND_CODE ATTEND_APART void chain(int key, int key_count, bool adds) {
    float* rows[tile_rows];
    for (int r = 0; r < count_; ++r) rows[r] = scores(r);
    Chains chains;
    chains.rows = count_;
    chains.to = rows;
    chains.a_stride = problem_.head_dim;
    chains.a_scale = scaled() ? 1.0f : scale_;
    chains.b_step = problem_.key_panels ? panel_keys : 1;
    chains.b_stride = problem_.key_panels ? 1 : problem_.key.token_stride;
    int wide = Isa::columns(count_, !problem_.key_panels);
    for (chains.column = 0; chains.column < key_count; chains.column += wide) {
      chains.a = queries_;
      chains.b = keys_ + chains.b_stride * (key + chains.column);
      chains.columns = at_most(key_count - chains.column, wide);
      if (problem_.key_panels) {
        // A panel is whole, whatever key_count is.
        const int panel = (key + chains.column) & -panel_keys;
        chains.b += panel * ptrdiff_t(problem_.head_dim - 1);
        chains.columns = wide;
      }
      for (int left = problem_.head_dim; left > 0; left -= chain_dims) {
        chains.adds = left != problem_.head_dim;
        chains.steps = at_most(left, chain_dims);
        Isa::chains(chains);
        chains.a += chain_dims;
        chains.b += chain_dims * chains.b_step;
      }
    }

    for (int r = 0; r < count_; ++r) {
      rows[r] = sums(r, key);
      const int visible = at_most(seen_[r] - key, key_count);
      if (visible > 0) weigh_row<Isa>(scores(r), visible, max(r), lane_sums(r), rows[r], problem_.value_dim);
    }

    if (seen_[0] - key < key_count) chains.rows = 1;
    chains.a_stride = config::score_keys;
    chains.a_scale = 1.0f;
    chains.b_step = problem_.value.token_stride;
    chains.b_stride = 1;
    chains.adds = adds;
    wide = Isa::columns(chains.rows, false);
    for (int r = 0; r < count_; r += chains.rows) {
      chains.steps = at_most(seen_[r] - key, key_count);
      if (chains.steps <= 0) continue;
      chains.a = scores(r);
      chains.b = values_ + key * chains.b_step;
      chains.to = rows + r;
      for (chains.column = 0; chains.column < problem_.value_dim; chains.column += wide) {
        chains.columns = at_most(problem_.value_dim - chains.column, wide);
        Isa::chains(chains);
        chains.b += wide;
      }
    }
  }

  // Adds the segment's sums to the total, which is in the output: both in the scale of the row's maximum, which only grows.
  ATTEND_APART void end_segment(int segment) {
    for (int r = 0; r < count_; ++r) {
      if (segment > 0 && seen_[r] <= segment) continue;
      float sum = add_lanes<Isa>(lane_sums(r));
      float* const before = total(r);
      if (segment > 0) {
        const typename Isa::Vec factor =
            Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(Scalar::sub(before[1], max(r))));
        sum = Scalar::fma(before[0], Isa::highest_lane(factor), sum);
        multiply_add_row<Isa>(output_[r], problem_.value_dim, factor, sums(r, segment), output_[r]);
      }
      before[0] = sum;
      before[1] = max(r);
    }
  }

  bool scaled() const { return core::scaled_in_advance(problem_.row_block, problem_.key_panels); }
  bool many_segments() const { return problem_.keys > segment_keys; }

  // The scratch: scores, and then weights, [rows][score_keys];
  float* scores(int r) const { return problem_.scratch + r * config::score_keys; }
  // [rows]: 16 partial sums of the denominator and the maximum;
  float* lane_sums(int r) const { return rows_state_ + r * (panel_keys + 1); }
  float& max(int r) const { return lane_sums(r)[panel_keys]; }
  // scaled queries [rows][head_dim], if they are scaled in advance;
  float* after_state() const { return lane_sums(rows_); }
  // where there are many segments [rows]: denominator and maximum of the finished ones, and sums of the current one,
  // [value_dim]. Those of the first grow in the output.
  float* total(int r) const {
    return after_state() + ptrdiff_t(rows_) * (scaled() ? problem_.head_dim : 0) + r * ptrdiff_t(problem_.value_dim + 2);
  }
  float* sums(int r, int key) const { return key < segment_keys ? output_[r] : total(r) + 2; }

  const core::Problem& problem_;
  int rows_;              // of a block: those of a tile, or 1
  int count_;             // of this block: the same, or 1
  const float* keys_;     // of the key/value head
  const float* values_;   // likewise
  const float* queries_;  // [rows][head_dim]
  float scale_;           // of the queries, for scores in base 2
  float* rows_state_;
  float* output_[tile_rows];
  int seen_[tile_rows];  // how many keys each row sees: they are the first ones
};

}  // namespace
}  // namespace attend
