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

constexpr int at_most(int a, int limit) { return a < limit ? a : limit; }
constexpr int at_least(int a, int limit) { return a > limit ? a : limit; }

template <class Isa>
class RowBlock {
  static_assert(Isa::tile_rows <= config::tile_rows, "the scratch has room for the scores of this many rows");

 public:
  // Rows first … first + count - 1 of key/value head `head`; count <= problem.row_block.
  RowBlock(const core::Problem& problem, int head, int first, int count)
      : problem_(problem),
        group_(problem.query_heads / problem.kv_heads),
        first_{first / group_, first % group_},
        head_(head),
        count_(count) {
    // The same keys are seen with an offset beyond these, and the sums below cannot overflow.
    offset_ = at_most(at_least(problem.offset, -problem.queries), problem.keys);
    float* next = problem.scratch;
    const auto take = [&next](int floats_per_row, int rows) {
      float* taken = next;
      next += ptrdiff_t(floats_per_row) * rows;
      return taken;
    };
    const int packed_keys = problem.key_panels ? 0 : problem.key_block;
    panels_ = take(problem.head_dim, packed_keys);  // first: its vectors stay aligned
    values_ = take(config::gather ? problem.value_dim : 0, packed_keys);
    scores_ =
        take(problem.row_block == 1 ? problem.key_block : config::score_keys, at_most(problem.row_block, config::tile_rows));
    chains_ = take(problem.row_block == 1 ? 0 : problem.value_dim, at_most(problem.row_block, config::tile_rows));
    lane_sums_ = take(panel_keys, count);
    query_ = take(problem.head_dim, count);
    max_ = take(1, count);
    many_segments_ = problem.keys > segment_keys;
    gathered_ = config::gather && count > Isa::tile_rows;
    total_max_ = take(many_segments_ ? 1 : 0, count);
    total_sum_ = take(many_segments_ ? 1 : 0, count);
    sums_ = take(many_segments_ || gathered_ ? problem.value_dim : 0, count);
  }

  void run() {
    const int key_end = visible_keys(row(count_ - 1));
    const int key_block = problem_.row_block == 1 ? problem_.key_block : at_most(problem_.key_block, config::score_keys);
    pack_queries();
    fill_row<Isa>(lowest_max, count_, max_);
    start_segment(0);
    int key = 0;
    while (key < key_end) {
      const int segment = key / segment_keys * segment_keys;
      const int keys = at_most(key_block, at_most(segment + segment_keys, key_end) - key);
      go_over(key, keys, segment);
      key += keys;
      if (key - segment == segment_keys || key == key_end) {
        end_segment(segment);
        if (key < key_end) start_segment(key);
      }
    }
    Row at = first_;
    for (int r = 0; r < count_; ++r, step(at)) {
      float* output = row_of(problem_.output, at);
      if (many_segments_ && key_end > 0) {
        divide(output, total_sum_[r], output);
      } else {
        divide(sums_of(r, at, 0), add_lanes(lane_sums_ + r * panel_keys), output);
      }
    }
  }

 private:
  Row row(int r) const {
    const int position = first_.head + r;
    return {first_.token + position / group_, position % group_};
  }

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
    return tensor.data + at.token * tensor.token_stride + (head_ * group_ + at.head) * tensor.head_stride;
  }

  // Where the sums of the current segment grow: in the scratch, or, when nothing is gained by that, the first one's in the
  // output.
  float* sums_of(int r, Row at, int segment) const {
    return segment == 0 && !gathered_ ? row_of(problem_.output, at) : sums_ + ptrdiff_t(r) * problem_.value_dim;
  }

  // Rows of the tile that starts where `left` rows are left.
  static int tile_rows(int left) {
    if (left >= Isa::tile_rows) return Isa::tile_rows;
    return Isa::tiles_of_any_row_count ? left : 1;
  }

  // query_ = scaled queries, tile after tile, each [head_dim][rows of the tile].
  void pack_queries() {
    const float scale = base2_scale(problem_.scale);
    Row at = first_;
    for (int r = 0, rows; r < count_; r += rows) {
      rows = tile_rows(count_ - r);
      float* tile = query_ + ptrdiff_t(r) * problem_.head_dim;
      const float* from[Isa::tile_rows];
      for (int i = 0; i < rows; ++i, step(at)) from[i] = row_of(problem_.query, at);
      if (rows == Isa::tile_rows) {
        for (int d = 0; d < problem_.head_dim; ++d) {
          ATTEND_UNROLL
          for (int i = 0; i < Isa::tile_rows; ++i) *tile++ = from[i][d] * scale;
        }
      } else {
        for (int d = 0; d < problem_.head_dim; ++d) {
          for (int i = 0; i < rows; ++i) *tile++ = from[i][d] * scale;
        }
      }
    }
  }

  void start_segment(int segment) {
    fill_row<Isa>(0.0f, count_ * panel_keys, lane_sums_);
    if (gathered_ || segment > 0) {
      fill_row<Isa>(0.0f, count_ * problem_.value_dim, sums_);
    } else {
      Row at = first_;
      for (int r = 0; r < count_; ++r, step(at)) fill_row<Isa>(0.0f, problem_.value_dim, row_of(problem_.output, at));
    }
  }

  // Panels of `keys` keys from position `key`: those of a cache as they lie, others packed.
  const float* panels_at(int key, int keys) {
    const float* from = problem_.key.data + head_ * problem_.key.head_stride;
    if (problem_.key_panels) return from + ptrdiff_t(key) * problem_.head_dim;
    for (int k = 0; k < keys; k += panel_keys) {
      pack_panel<Isa>(from + (key + k) * problem_.key.token_stride, problem_.key.token_stride, at_most(keys - k, panel_keys),
                      problem_.head_dim, panels_ + ptrdiff_t(k) * problem_.head_dim);
    }
    return panels_;
  }

  // Values of the same keys, gathered when several tiles of rows will read them.
  Values values_at(int key, int keys) {
    const ptrdiff_t stride = problem_.value.token_stride;
    const float* from = problem_.value.data + head_ * problem_.value.head_stride + key * stride;
    if (!config::gather || problem_.key_panels || stride == problem_.value_dim || !gathered_) return {from, stride};
    for (int k = 0; k < keys; ++k)
      copy_row<Isa>(from + k * stride, problem_.value_dim, values_ + ptrdiff_t(k) * problem_.value_dim);
    return {values_, problem_.value_dim};
  }

  void go_over(int key, int keys, int segment) {
    const float* panels = panels_at(key, keys);
    const Values values = values_at(key, keys);
    Row at = first_;
    for (int r = 0, rows; r < count_; r += rows) {
      rows = tile_rows(count_ - r);
      tile<Isa::tile_rows>(rows, r, at, key, keys, segment, panels, values);
    }
  }

  template <int rows>
  void tile(int wanted, int r, Row& at, int key, int keys, int segment, const float* panels, Values values) {
    if constexpr (rows > 1) {
      if (wanted != rows) {
        return tile<(Isa::tiles_of_any_row_count ? rows - 1 : 1)>(wanted, r, at, key, keys, segment, panels, values);
      }
    }
    int visible[rows];  // of these keys, never falling
    float* output[rows];
    for (int i = 0; i < rows; ++i, step(at)) {
      visible[i] = at_most(at_least(visible_keys(at) - key, 0), keys);
      output[i] = sums_of(r + i, at, segment);
    }
    if (visible[rows - 1] == 0) return;
    score_rows<Isa, rows>(query_ + ptrdiff_t(r) * problem_.head_dim, panels, problem_.head_dim, visible[rows - 1], scores_);
    for (int i = 0; i < rows; ++i) {
      if (visible[i] == 0) continue;
      weigh_row<Isa>(scores_ + i * config::score_keys, visible[i], max_[r + i], lane_sums_ + (r + i) * panel_keys, output[i],
                     problem_.value_dim);
    }
    for (int chain = 0; chain < visible[rows - 1]; chain += chain_keys) {
      int in_chain[rows];
      for (int i = 0; i < rows; ++i) in_chain[i] = at_most(at_least(visible[i] - chain, 0), chain_keys);
      value_chain<Isa, rows>(scores_ + chain, values.data + chain * values.stride, values.stride, in_chain, chains_, output,
                             problem_.value_dim);
    }
  }

  // Adds the segment's sums to the total, which is in the output: both in the scale of the row's maximum, which only grows.
  void end_segment(int segment) {
    if (!many_segments_) return;
    using Vec = typename Isa::Vec;
    Row at = first_;
    for (int r = 0; r < count_; ++r, step(at)) {
      if (segment > 0 && visible_keys(at) <= segment) continue;
      const float sum = add_lanes(lane_sums_ + r * panel_keys);
      float* total = row_of(problem_.output, at);
      float* part = sums_of(r, at, segment);
      if (segment == 0) {
        total_sum_[r] = sum;
        if (part != total) copy_row<Isa>(part, problem_.value_dim, total);
      } else {
        const Vec factor = Isa::scale_by_power(Isa::broadcast(1.0f), Isa::broadcast(total_max_[r] - max_[r]));
        total_sum_[r] = fused_multiply_add(total_sum_[r], Isa::highest_lane(factor), sum);
        add_row(total, factor, part);
      }
      total_max_[r] = max_[r];
    }
  }

  // total = total * factor + part
  void add_row(float* total, typename Isa::Vec factor, const float* part) const {
    int c = 0;
    for (; problem_.value_dim - c >= Isa::lanes; c += Isa::lanes) {
      Isa::store(total + c, Isa::fma(Isa::load(total + c), factor, Isa::load(part + c)));
    }
    if (const int left = problem_.value_dim - c; left > 0) {
      Isa::store_first(total + c, Isa::fma(Isa::load_first(total + c, left), factor, Isa::load_first(part + c, left)), left);
    }
  }

  void divide(const float* sums, float denominator, float* output) const {
    if (denominator == 0.0f) {  // saw no key, or only scores of minus infinity
      fill_row<Isa>(0.0f, problem_.value_dim, output);
    } else {
      multiply_row<Isa>(sums, problem_.value_dim, Isa::broadcast(1.0f / denominator), output);
    }
  }

  const core::Problem& problem_;
  const int group_;
  const Row first_;
  const int head_, count_;
  int offset_;
  bool many_segments_;
  bool gathered_;
  float* panels_;     // [key_block / 16][head_dim][16], packed keys
  float* values_;     // [key_block][value_dim], gathered values
  float* scores_;     // [tile rows][score_keys], a tile's scores and then weights; [key_block] where there is one row
  float* chains_;     // [tile rows][value_dim], chains put aside; none where there is one row
  float* lane_sums_;  // [rows][16], denominators
  float* query_;      // [rows][head_dim], packed queries
  float* max_;        // [rows]
  float* total_max_;  // [rows], of the finished segments, when there are many
  float* total_sum_;  // [rows], likewise
  float* sums_;       // [rows][value_dim], of the current segment; without gathering, of the second and later ones
};

template <class Isa>
void run_problem(const core::Problem& problem) {
  const int rows = problem.query_heads / problem.kv_heads * problem.queries;
  for (int head = 0; head < problem.kv_heads; ++head) {
    for (int first = 0; first < rows; first += problem.row_block) {
      RowBlock<Isa>(problem, head, first, at_most(rows - first, problem.row_block)).run();
    }
  }
}

}  // namespace
}  // namespace attend
