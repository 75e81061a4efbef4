// The micro-kernels as the pipeline calls them: for a tile of `rows` rows, a number that is known at run time.
//
//   for each tile of rows:   score_tiles, softmax_tiles, value_tiles
//
// Each picks the kernel for that number of rows; a jump a tile costs nothing beside the thousands of cycles of the tile.
#pragma once

#include "../../include/attend/core_options.h"
#include "online_softmax.h"
#include "operands.h"
#include "score_tile.h"
#include "typed_tiles.h"
#include "value_tile.h"

namespace attend {
namespace {

// The rows of the next tile, of `left` rows.
template <class Isa>
int next_tile_rows(int left) {
  return left < 2 * Isa::tile_rows && left > Isa::tile_rows ? (left + 1) / 2 : at_most(left, Isa::tile_rows);
}

// A number of rows as a type.
template <int rows>
struct RowCount {
  static constexpr int value = rows;
};

template <class Isa, int rows, class Number>
void typed_scores_of(const float* query, const Number* data, const Panels& panels, int from, int to, float* scores) {
  const ptrdiff_t head_dim = panels.head_dim;
  typed_scores<Isa, Number, rows>(query, data + from * head_dim, panels.head_dim, to - from,
                                  panels.scales == nullptr ? nullptr : panels.scales + from, scores + from);
}

// In one go over all chains where one tile has all columns; see typed_tiles.h.
template <class Isa, int rows, class Number>
void typed_values_of(const float* weights, const Number* data, const Values& values, int keys, Sums sums) {
  if (sums.value_dim <= typed_value_vecs<Isa>(rows) * Isa::lanes) {
    return typed_values<Isa, Number, rows>(weights, data, values.stride, keys, values.first_chain, sums);
  }
  for (int k = 0, chain = at_most(values.first_chain, keys); k < keys; k += chain, chain = at_most(keys - k, chain_keys)) {
    typed_values<Isa, Number, rows>(weights + k, data + k * values.stride, values.stride, chain, chain, sums);
    sums.begun = true;
  }
}

// Calls with the number of rows as a type.
template <int most, class Call>
ATTEND_ALWAYS_INLINE void with_rows(int rows, Call call) {
  if constexpr (most > 1) {
    if (rows != most) return with_rows<most - 1>(rows, call);
  }
  call(RowCount<most>());
}

// scores[r][k] = query[r] * keys[k] for keys from ... to - 1 and the rest of the last one's panel.
//   query   [rows][head_dim], scaled
//   panels  of key 0; for other formats than float32 there are at most typed_rows rows
//   from    a whole number of panels
//   scores  of key 0: [rows][score_keys], or as many as there are for one row
template <class Isa>
void score_tiles(int rows, const float* query, const Panels& panels, int from, int to, float* scores) {
  const int head_dim = panels.head_dim;
  if (panels.format != core::Format::float32) {
    with_rows<typed_rows>(rows, [&](auto count) {
      with_numbers(panels.format, panels.data, [&](const auto* data) {
        typed_scores_of<Isa, decltype(count)::value>(query, data, panels, from, to, scores);
      });
    });
    return;
  }
  const float* const data = static_cast<const float*>(panels.data);
  with_rows<Isa::tile_rows>(rows, [&](auto count) {
    constexpr int some = decltype(count)::value;
    if (panels.width == few_panel_keys) {
      score_tile<Isa, some, 1, few_panel_keys>(query, data, 0, head_dim, scores);
    } else {
      score_rows<Isa, some>(query, data, head_dim, to, scores, from);
    }
  });
}

// Replaces scores by weights relative to the rows' running maxima, raises these where a score is much higher, and adds the
// weights to the denominators' partial sums: online_softmax.h.
//   scores     [rows][score_keys]
//   visible    [rows], never falling: how many of the keys a row sees; not all 0
//   states     [rows]
//   lane_sums  [rows][16]
//   sums       [rows][value_dim], which follow the maxima; if they have not begun, the lane sums have not either
template <class Isa>
void softmax_tiles(int rows, float* scores, const int* visible, SoftmaxState* states, float* lane_sums, Sums sums) {
  with_rows<Isa::tile_rows>(
      rows, [&](auto count) { online_softmax<Isa, decltype(count)::value>(scores, visible, states, lane_sums, sums); });
}

// sums[r] += sum over k < visible[r] of weights[r][k] * values[k]: one chain of the first values.first_chain keys, then one of
// each chain_keys, added up in ascending order. A row that sees none of a chain's keys adds zero.
//   weights  [rows][score_keys], or as many as there are for one row
//   values   for other formats than float32, at most typed_rows rows that see the same keys
//   visible  [rows], never falling; not all 0
//   sums     [rows][value_dim]
template <class Isa>
void value_tiles(int rows, const float* weights, const Values& values, const int* visible, Sums sums) {
  const int most = visible[rows - 1];
  if (values.format != core::Format::float32) {
    with_rows<typed_rows>(rows, [&](auto count) {
      with_numbers(values.format, values.data,
                   [&](const auto* data) { typed_values_of<Isa, decltype(count)::value>(weights, data, values, most, sums); });
    });
    return;
  }
  with_rows<Isa::tile_rows>(rows, [&](auto count) {
    constexpr int some = decltype(count)::value;
    const float* const data = static_cast<const float*>(values.data);
    for (int k = 0, chain = values.first_chain; k < most; k += chain, chain = chain_keys, sums.begun = true) {
      int in_chain[some];
      for (int i = 0; i < some; ++i) in_chain[i] = at_most(at_least(visible[i] - k, 0), chain);
      value_rows<Isa, some>(weights + k, {data + k * values.stride, values.stride}, in_chain, sums);
    }
  });
}

}  // namespace
}  // namespace attend
