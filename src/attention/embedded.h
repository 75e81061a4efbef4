// The algorithm for parts that are short of memory: as in host.h, which is for hosts, with less code and no copies.
//
//   for each block of rows: as many as a tile has, or one; with options any number
//     for each chain of keys:  scores -> weights -> weighted sum of values
//     at the end of a segment: add its sums to the sums of the segments before it
//     divide by the denominator
//
// Keys are read as they lie, panels or not. Rows that are left over go one by one, as do rows that see different numbers of a
// chain's keys when it comes to values: a hidden value is never touched.
#pragma once

#include "../kernel/row_softmax.h"
#include "../simd/contract.h"
#include "combine.h"
#include "embedded_tiles.h"
#include "features.h"
#include "visibility.h"

namespace attend {
namespace {

// A block of rows of calls without options: those of a tile, or one. Sums grow in the output.
template <class Isa>
class EmbeddedTileBlock {
  static constexpr int tile_rows = Isa::tile_rows;
  static_assert(has_embedded_operations<Isa>(), "");
  static_assert(panel_keys % Isa::columns(1, false) == 0 && panel_keys % Isa::columns(tile_rows, false) == 0,
                "tiles do not cross panels");

 public:
  ATTEND_ALWAYS_INLINE explicit EmbeddedTileBlock(const core::Problem& problem) : problem_(problem) {
    rows_ = problem.row_block < tile_rows ? 1 : tile_rows;
    scale_ = base2_scale(problem.scale);
    rows_state_ = problem.scratch + memory().sums();
  }

  ATTEND_ALWAYS_INLINE void begin_heads() {
    keys_ = problem_.key.data;
    values_ = problem_.value.data;
  }

  // How many rows the next block has, of those that are left.
  int rows_of(int left) const { return left < rows_ ? 1 : rows_; }

  ATTEND_ALWAYS_INLINE void next_head() {
    keys_ += problem_.key.head_stride;
    values_ += problem_.value.head_stride;
  }

  // Row r is a token of a query head.
  ATTEND_NOINLINE void begin_row(int r, int token, int head) {
    output_[r] = problem_.output.data + token * problem_.output.token_stride + head * problem_.output.head_stride;
    seen_[r] = visible_keys(problem_, token);
    max(r) = lowest_max;
    queries_ = problem_.query.data + token * problem_.query.token_stride + head * problem_.query.head_stride;
    if (scaled()) {
      float* to = after_state() + ptrdiff_t(r) * problem_.head_dim;
      multiply_row<Isa>(queries_, problem_.head_dim, Isa::broadcast(scale_), to);
      queries_ = after_state();
    }
  }

  template <bool divides>
  ATTEND_ALWAYS_INLINE void go_over() {
    if constexpr (divides) {
      go_over_segments();
    } else {
      keep_segment();
    }
  }

  const core::Problem& problem_;
  int rows_;   // of a block: those of a tile, or 1
  int count_;  // of this block: the same, or 1

 private:
  // All keys, for the rows that were begun.
  void go_over_segments() {
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
      store_partial_row<Isa>(output_[r], problem_.value_dim, add_lanes<Isa>(lane_sums(r)), max(r), output_[r]);
    }
  }

  // One chain of keys for all rows. The first of a segment begins its sums; others add to them.
  ATTEND_HOT ATTEND_NOINLINE void chain(int key, int key_count, bool adds) {
    float* rows[tile_rows];
    for (int r = 0; r < count_; ++r) rows[r] = scores(r);
    Chains chains;
    chains.rows = count_;
    chains.to = rows;
    chains.a_stride = problem_.head_dim;
    chains.a_scale = scaled() ? 1.0f : scale_;
    chains.b_step = problem_.key_panels ? panel_keys : 1;
    chains.b_stride = problem_.key_panels ? 1 : problem_.key.token_stride;
    chains.column = 0;
    score_tile<Isa>(chains, problem_, queries_, keys_, key, key_count);

    for (int r = 0; r < count_; ++r) {
      rows[r] = sums(r, key);
      const int visible = at_most(seen_[r] - key, key_count);
      if (visible > 0) online_softmax_row<Isa>(scores(r), visible, max(r), lane_sums(r), rows[r], problem_.value_dim);
    }

    if (seen_[0] - key < key_count) chains.rows = 1;
    chains.a_stride = config::score_keys;
    chains.a_scale = 1.0f;
    chains.b_step = problem_.value.token_stride;
    chains.b_stride = 1;
    chains.adds = adds;
    const int wide = Isa::columns(chains.rows, false);
    for (int r = 0; r < count_; r += chains.rows) {
      chains.steps = at_most(seen_[r] - key, key_count);
      if (chains.steps <= 0) continue;
      chains.a = scores(r);
      chains.b = values_ + key * chains.b_step;
      chains.to = rows + r;
      value_tile<Isa>(chains, wide, 0, problem_.value_dim);
    }
  }

  // Adds the segment's sums to the total, which is in the output: both in the scale of the row's maximum, which only grows.
  ATTEND_NOINLINE void end_segment(int segment) {
    for (int r = 0; r < count_; ++r) {
      if (segment > 0 && seen_[r] <= segment) continue;
      float sum = add_lanes<Isa>(lane_sums(r));
      float* const before = total(r);
      if (segment > 0) {
        const typename Isa::Vec factor = rescale_factor<Isa>(before[1], max(r));
        sum = rescale_and_add<Isa>(output_[r], before[0], factor, sums(r, segment), sum, problem_.value_dim);
      }
      before[0] = sum;
      before[1] = max(r);
    }
  }

  ATTEND_ALWAYS_INLINE core::EmbeddedMemory memory() const { return {problem_.row_block, rows_, scaled()}; }
  bool scaled() const { return core::scaled_in_advance(problem_.row_block, problem_.key_panels); }
  bool many_segments() const { return problem_.keys > segment_keys; }

  float* scores(int r) const { return problem_.scratch + r * config::score_keys; }
  float* lane_sums(int r) const { return rows_state_ + r * core::EmbeddedMemory::row_sums; }
  float& max(int r) const { return lane_sums(r)[panel_keys]; }
  float* after_state() const { return rows_state_ + memory().queries(); }
  // Denominator and maximum of the segments before, and the sums of the current one. Those of the first grow in the output.
  float* total(int r) const {
    return after_state() + memory().totals(problem_.head_dim) + r * memory().row_total(problem_.value_dim);
  }
  float* sums(int r, int key) const { return key < segment_keys ? output_[r] : total(r) + 2; }

  const float* keys_;     // of the key/value head
  const float* values_;   // likewise
  const float* queries_;  // [rows][head_dim]
  float scale_;           // of the queries, for scores in base 2
  float* rows_state_;
  float* output_[tile_rows];
  int seen_[tile_rows];  // how many keys each row sees: they are the first ones
};

// Which block of rows has a set of features; that of AllFeatures is in embedded_block.h.
template <class Isa, class Features>
struct EmbeddedBlockOf;
template <class Isa>
struct EmbeddedBlockOf<Isa, NoFeatures> {
  using Block = EmbeddedTileBlock<Isa>;
};

// The whole of a problem, block by block. What the block takes besides, such as options, follows.
template <class Isa, class Features>
class EmbeddedPipeline : EmbeddedBlockOf<Isa, Features>::Block {
  using Block = typename EmbeddedBlockOf<Isa, Features>::Block;
  using Block::count_, Block::problem_;

 public:
  template <class... More>
  ATTEND_ALWAYS_INLINE explicit EmbeddedPipeline(const core::Problem& problem, const More&... more) : Block(problem, more...) {}

  // Divides: the output is what it should be. Otherwise it takes the sums of one segment (combine.h).
  template <bool divides>
  void run() {
    int group = 0;  // query heads that share a key/value head; without a division, which some processors lack
    for (int heads = problem_.query_heads; heads > 0; heads -= problem_.kv_heads) ++group;
    Block::begin_heads();
    for (int first_head = 0; first_head < problem_.query_heads; first_head += group) {
      int token = 0, head = 0;
      for (int left = group * problem_.queries; left > 0; left -= count_) {
        count_ = Block::rows_of(left);
        for (int r = 0; r < count_; ++r) {
          Block::begin_row(r, token, first_head + head);
          if (++head == group) {
            head = 0;
            ++token;
          }
        }
        Block::template go_over<divides>();
      }
      Block::next_head();
    }
  }
};

}  // namespace
}  // namespace attend
