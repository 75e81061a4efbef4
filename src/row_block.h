// The algorithm: a block of query rows of one key/value head goes over its keys.
//
//   scale the queries
//   for each block of keys, ascending, cut at segments:
//     for each tile of rows:  scores -> weights -> weighted sum of values
//     at the end of a segment: add its sums to the sums of the segments before it
//   divide by the denominator
//
// A row is a (token, query head) pair: row = token * group + head within the group, so that all query heads that share keys
// read them together, and the number of visible keys never falls from one row to the next.
#pragma once

#include "../include/attend/core.h"
#include "pack.h"
#include "score_tile.h"
#include "segments.h"
#include "softmax.h"
#include "value_tile.h"

namespace attend {
namespace {

// One row of a block as (token, query head within the group). Steps from row to row, because a division for each would show.
struct Row {
  int token;
  int head;
};

// Values of consecutive keys, `stride` floats apart.
struct Values {
  const float* data;
  ptrdiff_t stride;
};

// Which rows: `count` of them from a row on, all of one key/value head.
struct Rows {
  int head;
  Row first;
  int count;
};

template <class Isa>
class RowBlock {
  static_assert(Isa::tile_rows <= config::tile_rows, "the scratch has room for the scores of this many rows");

 public:
  // rows.count <= problem.row_block; group: query heads that share a key/value head.
  RowBlock(const core::Problem& problem, int group, Rows rows) : problem_(problem), group_(group), rows_(rows) {
    // The same keys are seen with an offset beyond these, and the sums below cannot overflow.
    offset_ = at_most(at_least(problem.offset, -problem.queries), problem.keys);
    many_segments_ = problem.keys > segment_keys;
    gathered_ = rows.count > Isa::tile_rows;
    float* next = problem.scratch;
    const auto take = [&next](int floats_per_row, int row_count) {
      float* taken = next;
      next += ptrdiff_t(floats_per_row) * row_count;
      return taken;
    };
    const int tile_rows = at_most(problem.row_block, config::tile_rows);
    const int packed_keys = problem.key_panels ? 0 : problem.key_block;
    panels_ = take(problem.head_dim, packed_keys);  // first: its vectors stay aligned
    values_ = take(problem.value_dim, packed_keys);
    scores_ = take(problem.row_block == 1 ? problem.key_block : config::score_keys, tile_rows);
    lane_sums_ = take(panel_keys, rows.count);
    query_ = take(problem.head_dim, rows.count);
    max_ = take(1, rows.count);
    total_max_ = take(many_segments_, rows.count);
    total_sum_ = take(many_segments_, rows.count);
    sums_ = take(many_segments_ || gathered_ ? problem.value_dim : 0, rows.count);
  }

  // divides: the output is what it should be; otherwise it takes the sums of one segment (segments.h).
  void run(bool divides) {
    Row last = rows_.first;
    for (int r = 1; r < rows_.count; ++r) step(last);
    const int key_end = visible_keys(last);
    const int key_block = problem_.row_block == 1 ? problem_.key_block : at_most(problem_.key_block, config::score_keys);
    scale_queries();
    fill_row<Isa>(lowest_max, rows_.count, max_);
    int segment = 0;
    do {
      const int end = at_most(segment + segment_keys, key_end);
      start_segment();
      for (int key = segment; key < end; key += key_block) go_over(key, at_most(key_block, end - key));
      if (many_segments_) end_segment(segment);
      segment += segment_keys;
    } while (segment < key_end);
    Row at = rows_.first;
    for (int r = 0; r < rows_.count; ++r, step(at)) {
      float* output = row_of(problem_.output, at);
      const float* sums = many_segments_ ? output : sums_of(r, at);
      const float denominator = many_segments_ ? total_sum_[r] : add_lanes<Isa>(lane_sums_ + r * panel_keys);
      if (divides) {
        divide_row<Isa>(sums, problem_.value_dim, denominator, output);
      } else {
        keep_row<Isa>(sums, problem_.value_dim, denominator, max_[r], output);
      }
    }
  }

 private:
  void step(Row& at) const {
    if (++at.head == group_) {
      at.head = 0;
      ++at.token;
    }
  }

  // How many keys a row sees: they are 0 … visible_keys - 1.
  int visible_keys(Row at) const {
    if (!problem_.causal) return problem_.keys;
    return at_most(at_least(offset_ + at.token + 1, 0), problem_.keys);
  }

  template <class Float>
  Float* row_of(const core::Tensor<Float>& tensor, Row at) const {
    return tensor.data + at.token * tensor.token_stride + (rows_.head * group_ + at.head) * tensor.head_stride;
  }

  // Where the sums of the current segment grow: in the scratch, or, when nothing is gained by that, in the output.
  float* sums_of(int r, Row at) const {
    return many_segments_ || gathered_ ? sums_ + ptrdiff_t(r) * problem_.value_dim : row_of(problem_.output, at);
  }

  void scale_queries() {
    const typename Isa::Vec scale = Isa::broadcast(base2_scale(problem_.scale));
    Row at = rows_.first;
    for (int r = 0; r < rows_.count; ++r, step(at)) {
      multiply_row<Isa>(row_of(problem_.query, at), problem_.head_dim, scale, query_ + ptrdiff_t(r) * problem_.head_dim);
    }
  }

  void start_segment() {
    fill_row<Isa>(0.0f, rows_.count * panel_keys, lane_sums_);
    if (many_segments_ || gathered_) {
      fill_row<Isa>(0.0f, rows_.count * problem_.value_dim, sums_);
    } else {
      Row at = rows_.first;
      for (int r = 0; r < rows_.count; ++r, step(at)) fill_row<Isa>(0.0f, problem_.value_dim, row_of(problem_.output, at));
    }
  }

  // Panels of `keys` keys from position `key`: those of a cache as they lie, others packed.
  const float* panels_at(int key, int keys) {
    const ptrdiff_t stride = problem_.key.token_stride;
    const float* from = problem_.key.data + rows_.head * problem_.key.head_stride;
    if (problem_.key_panels) return from + ptrdiff_t(key) * problem_.head_dim;
    for (int k = 0; k < keys; k += panel_keys) {
      pack_panel<Isa>(from + (key + k) * stride, stride, at_most(keys - k, panel_keys), problem_.head_dim,
                      panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return panels_;
  }

  // Values of the same keys, gathered when several tiles of rows will read them.
  Values values_at(int key, int keys) {
    const ptrdiff_t stride = problem_.value.token_stride;
    const float* from = problem_.value.data + rows_.head * problem_.value.head_stride + key * stride;
    if (!gathered_ || problem_.key_panels || stride == problem_.value_dim) return {from, stride};
    for (int k = 0; k < keys; ++k)
      copy_row<Isa>(from + k * stride, problem_.value_dim, values_ + ptrdiff_t(k) * problem_.value_dim);
    return {values_, problem_.value_dim};
  }

  void go_over(int key, int keys) {
    const float* panels = panels_at(key, keys);
    const Values values = values_at(key, keys);
    Row at = rows_.first;
    for (int r = 0, rows; r < rows_.count; r += rows) {
      rows = at_most(rows_.count - r, Isa::tile_rows);
      tile(rows, r, at, key, keys, panels, values);
    }
  }

  // `rows` rows from row r on.
  void tile(int rows, int r, Row& at, int key, int keys, const float* panels, Values values) {
    int visible[Isa::tile_rows];  // of these keys, never falling
    float* sums[Isa::tile_rows];
    for (int i = 0; i < rows; ++i, step(at)) {
      visible[i] = at_most(at_least(visible_keys(at) - key, 0), keys);
      sums[i] = sums_of(r + i, at);
    }
    const int most = visible[rows - 1];
    if (most == 0) return;
    scores<Isa::tile_rows>(rows, query_ + ptrdiff_t(r) * problem_.head_dim, panels, most);
    for (int i = 0; i < rows; ++i) {
      if (visible[i] == 0) continue;
      weigh_row<Isa>(scores_ + i * config::score_keys, visible[i], max_[r + i], lane_sums_ + (r + i) * panel_keys, sums[i],
                     problem_.value_dim);
    }
    for (int chain = 0; chain < most; chain += chain_keys) {
      int in_chain[Isa::tile_rows];
      for (int i = 0; i < rows; ++i) in_chain[i] = at_most(at_least(visible[i] - chain, 0), chain_keys);
      weighted_values<Isa::tile_rows>(rows, scores_ + chain, {values.data + chain * values.stride, values.stride}, in_chain,
                                      sums);
    }
  }

  // scores_ = scores of `wanted` rows.
  template <int rows>
  void scores(int wanted, const float* query, const float* panels, int key_count) {
    if constexpr (rows > 1) {
      if (wanted != rows) return scores<rows - 1>(wanted, query, panels, key_count);
    }
    score_rows<Isa, rows>(query, panels, problem_.head_dim, key_count, scores_);
  }

  template <int rows>
  void weighted_values(int wanted, const float* weights, Values values, const int* visible, float* const* output) {
    if constexpr (rows > 1) {
      if (wanted != rows) return weighted_values<rows - 1>(wanted, weights, values, visible, output);
    }
    value_rows<Isa, rows>(weights, values.data, values.stride, visible, output, problem_.value_dim);
  }

  // Adds the segment's sums to the total, which is in the output: both in the scale of the row's maximum, which only grows.
  void end_segment(int segment) {
    Row at = rows_.first;
    for (int r = 0; r < rows_.count; ++r, step(at)) {
      if (segment > 0 && visible_keys(at) <= segment) continue;
      const float sum = add_lanes<Isa>(lane_sums_ + r * panel_keys);
      float* total = row_of(problem_.output, at);
      if (segment == 0) {
        total_sum_[r] = sum;
        copy_row<Isa>(sums_of(r, at), problem_.value_dim, total);
      } else {
        const typename Isa::Vec factor =
            Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(Scalar::sub(total_max_[r], max_[r])));
        total_sum_[r] = Scalar::fma(total_sum_[r], Isa::highest_lane(factor), sum);
        add_row<Isa>(total, problem_.value_dim, factor, sums_of(r, at));
      }
      total_max_[r] = max_[r];
    }
  }

  const core::Problem& problem_;
  const int group_;
  const Rows rows_;
  int offset_;
  bool many_segments_;
  bool gathered_;
  float* panels_;     // [key_block / 16][head_dim][16], packed keys
  float* values_;     // [key_block][value_dim], gathered values
  float* scores_;     // [tile rows][score_keys], a tile's scores and then weights; [key_block] where there is one row
  float* lane_sums_;  // [rows][16], denominators
  float* query_;      // [rows][head_dim], scaled queries
  float* max_;        // [rows]
  float* total_max_;  // [rows], of the finished segments, when there are many
  float* total_sum_;  // [rows], likewise
  float* sums_;       // [rows][value_dim], of the current segment, when there are many or rows lie far apart
};

template <class Isa>
void run_problem(const core::Problem& problem, bool divides) {
  const int group = problem.query_heads / problem.kv_heads;
  Rows rows{};
  for (rows.head = 0; rows.head < problem.kv_heads; ++rows.head) {
    for (int first = 0; first < group * problem.queries; first += rows.count) {
      rows.first = {first / group, first % group};
      rows.count = at_most(group * problem.queries - first, problem.row_block);
      RowBlock<Isa>(problem, group, rows).run(divides);
    }
  }
}

}  // namespace
}  // namespace attend
