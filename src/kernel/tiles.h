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
#include "value_tile.h"

namespace attend {
namespace {

// The rows of the next tile, of `left` rows.
template <class Isa>
int next_tile_rows(int left) {
  return at_most(left, Isa::tile_rows);
}

// Of the rows of a tile that take several kernels, the next reads what the one before has read from the first-level cache: so
// many keys, and so many columns of a chain's values.
constexpr int shared_keys = 64, shared_columns = 64;

template <class Isa, class Number>
void score_panels(int rows, const float* query, const Panels& panels, int from, int to, float* scores) {
  const Number* const data = static_cast<const Number*>(panels.data);
  const ptrdiff_t head_dim = panels.head_dim;
  const int some = kernel_rows<Isa, Number>(rows) == rows ? to : shared_keys;
  for (; from < to; from += some) {
    const float* const scales = panels.scales == nullptr ? nullptr : panels.scales + from;
    for_each_kernel<Isa, Number>(rows, [&](int r, auto count) {
      score_rows<Isa, Number, decltype(count)::value>(query + r * head_dim, data + from * head_dim, panels.head_dim, scales,
                                                      at_most(to - from, some), scores + r * config::score_keys + from);
    });
  }
}

// scores[r][k] = query[r] * keys[k] for keys from ... to - 1 and the rest of the last one's panel.
//   query   [rows][head_dim], scaled
//   panels  of key 0; for other formats than float32 there are at most typed_rows rows
//   from    a whole number of panels
//   scores  of key 0: [rows][score_keys], or as many as there are for one row
template <class Isa>
void score_tiles(int rows, const float* query, const Panels& panels, int from, int to, float* scores) {
  switch (panels.format) {
    case core::Format::float16:
      return score_panels<Isa, Half>(rows, query, panels, from, to, scores);
    case core::Format::bfloat16:
      return score_panels<Isa, Bfloat>(rows, query, panels, from, to, scores);
    case core::Format::int8:
      return score_panels<Isa, int8_t>(rows, query, panels, from, to, scores);
    case core::Format::float32:
      break;
  }
  if (panels.width == panel_keys) return score_panels<Isa, float>(rows, query, panels, from, to, scores);
  const int head_dim = panels.head_dim;
  for_each_kernel<Isa, float>(rows, [&](int r, auto count) {
    score_tile<Isa, float, decltype(count)::value, 1, few_panel_keys>(query + r * ptrdiff_t(head_dim),
                                                                      static_cast<const float*>(panels.data), head_dim, nullptr,
                                                                      scores + r * config::score_keys);
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
  for (int r = 0, some; r < rows; r += some) {
    some = Isa::softmax_rows(rows - r);
    with_rows<Isa, float, Isa::softmax_rows(Isa::tile_rows)>(some, [&](auto count) {
      softmax_side_by_side<Isa, decltype(count)::value, NoScoreMod>(scores + r * config::score_keys, visible + r, states + r,
                                                                    lane_sums + r * panel_keys, sums_from(sums, r), {});
    });
  }
}

template <class Isa, class Number>
void value_chains(int rows, const float* weights, const Values& values, const int* visible, Sums sums) {
  const int keys = visible[rows - 1], dims = sums.value_dim;
  const bool alone = kernel_rows<Isa, Number>(rows) == rows;
  // All chains in one go over whole rows of values: by the next go, over other columns, the first-level cache would have lost
  // many of them.
  const bool at_once = (rows == 1 || widens<Number>)&&alone && dims <= value_vecs<Isa, Number>(rows) * Isa::lanes;
  ValueRows<Number> chain = {static_cast<const Number*>(values.data), values.stride, values.first_chain};
  int in_chain[Isa::tile_rows];
  for (int k = 0, end; k < keys; k = end) {
    end = at_once ? keys : at_most(k + chain.first_chain, keys);
    const int* seen = visible;
    if (end - k < keys) {
      for (int i = 0; i < rows; ++i) in_chain[i] = at_most(at_least(visible[i] - k, 0), end - k);
      seen = in_chain;
    }
    for (int column = 0, last; column < dims; column = last) {
      last = alone ? dims : at_most(column + shared_columns, dims);
      for_each_kernel<Isa, Number>(rows, [&](int r, auto count) {
        value_columns<Isa, Number, decltype(count)::value>(weights + k + r * config::score_keys, chain, seen + r,
                                                           sums_from(sums, r), column, last);
      });
    }
    chain = {chain.data + (end - k) * chain.stride, chain.stride, chain_keys};
    sums.begun = true;
  }
}

// sums[r] += sum over k < visible[r] of weights[r][k] * values[k]: one chain of the first values.first_chain keys, then one of
// each chain_keys, added up in ascending order. A row that sees none of a chain's keys adds zero.
//   weights  [rows][score_keys], or as many as there are for one row
//   values   for other formats than float32, at most typed_rows rows that see the same keys
//   visible  [rows], never falling; not all 0
//   sums     [rows][value_dim]
template <class Isa>
void value_tiles(int rows, const float* weights, const Values& values, const int* visible, Sums sums) {
  switch (values.format) {
    case core::Format::float16:
      return value_chains<Isa, Half>(rows, weights, values, visible, sums);
    case core::Format::bfloat16:
      return value_chains<Isa, Bfloat>(rows, weights, values, visible, sums);
    case core::Format::int8:
      return value_chains<Isa, int8_t>(rows, weights, values, visible, sums);
    case core::Format::float32:
      return value_chains<Isa, float>(rows, weights, values, visible, sums);
  }
}

}  // namespace
}  // namespace attend
