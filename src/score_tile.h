// Scores of a few query rows against panels of keys.
#pragma once

#include <stddef.h>

#include "../include/attend/config.h"
#include "float_rules.h"

namespace attend {
namespace {

// scores[r][k] = sum over d of query[r][d] * keys[k / 16][d][k % 16] for `rows` rows and `vecs` vectors of keys: chains of
// chain_dims dimensions, d ascending, added up in ascending order.
//
// A chain's sums stay in registers. A vector's lanes are keys, so no sum is ever split over lanes and its order is the same for
// every width.
//   query   [rows][head_dim], scaled
//   keys    panels [head_dim][16], panel_stride floats apart; with less than a panel's worth of lanes, from any lane of one
//   scores  [rows][score_keys]
template <class Isa, int rows, int vecs>
void score_tile(const float* query, const float* keys, ptrdiff_t panel_stride, int head_dim, float* scores) {
  using Vec = typename Isa::Vec;
  const ptrdiff_t row_stride = head_dim;
  for (int first = 0; first < head_dim; first += chain_dims) {
    Vec sums[rows][vecs];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::zero();
    }
    const int end = head_dim - first < chain_dims ? head_dim : first + chain_dims;
    for (int d = first; d < end; ++d) {
      Vec key[vecs];
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        key[v] = Isa::load(keys + v * Isa::lanes / panel_keys * panel_stride + v * Isa::lanes % panel_keys);
      }
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        const typename Isa::Factor q = Isa::factor(query[r * row_stride + d]);
        ATTEND_UNROLL
        for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::fma(q, key[v], sums[r][v]);
      }
      keys += panel_keys;
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* to = scores + r * config::score_keys + v * Isa::lanes;
        Isa::store(to, first == 0 ? sums[r][v] : Isa::add(Isa::load(to), sums[r][v]));
      }
    }
  }
}

// Scores of `rows` rows against key_count keys, rounded up to whole panels.
template <class Isa, int rows>
void score_rows(const float* query, const float* panels, int head_dim, int key_count, float* scores) {
  constexpr int wide = Isa::score_vecs(rows) * Isa::lanes;
  constexpr int narrow = wide < panel_keys ? wide : panel_keys;
  static_assert(wide % narrow == 0 && panel_keys % narrow == 0, "a tile is whole panels, or panels are whole tiles");
  const ptrdiff_t panel_stride = ptrdiff_t(panel_keys) * head_dim;
  const int padded = (key_count + panel_keys - 1) / panel_keys * panel_keys;
  int key = 0;
  for (; padded - key >= wide; key += wide) {
    const float* keys = panels + key / panel_keys * panel_stride + key % panel_keys;
    score_tile<Isa, rows, Isa::score_vecs(rows)>(query, keys, panel_stride, head_dim, scores + key);
  }
  if constexpr (wide > narrow) {
    for (; key < padded; key += narrow) {
      const float* keys = panels + key / panel_keys * panel_stride;
      score_tile<Isa, rows, narrow / Isa::lanes>(query, keys, panel_stride, head_dim, scores + key);
    }
  }
}

}  // namespace
}  // namespace attend
