// Scores of a few query rows against panels of keys.
#pragma once

#include <stddef.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "pack.h"

namespace attend {
namespace {

// One step of a chain: sums[r][v] += query[r][d] * key[d][v].
//   query   rows in threes, head_dim floats apart: x86 and Arm address three rows by one register and the distance
//   panels  of `width` lanes; from any lane on, where there is less than a panel's worth of them
template <class Isa, int rows, int vecs, int width>
ATTEND_ALWAYS_INLINE void score_step(const float* const* query, ptrdiff_t head_dim, const float* const* panels, int d,
                                     typename Isa::Vec (&sums)[rows][vecs]) {
  typename Isa::Vec key[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    key[v] = Isa::load(panels[v * Isa::lanes / panel_keys] + d * width + v * Isa::lanes % panel_keys);
  }
  if constexpr (prefetches<Isa>(rows) && width == panel_keys) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; v += panel_keys / Isa::lanes) {
      const float* const line = panels[v * Isa::lanes / panel_keys] + d * width;
      prefetch_lines<panel_keys* int(sizeof(float))>(line + 512, line + 4096);
    }
  }
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    const typename Isa::Factor q = Isa::factor(query[r / 3][r % 3 * head_dim + d]);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::fma(q, key[v], sums[r][v]);
  }
}

// scores[r][k] = sum over d of query[r][d] * keys[k / 16][d][k % 16] for `rows` rows and `vecs` vectors of keys: chains of
// chain_dims dimensions, d ascending, added up in ascending order.
//
// A chain's sums stay in registers. A vector's lanes are keys, so no sum is ever split over lanes and its order is the same for
// every width.
//   query   [rows][head_dim], scaled
//   keys    panels [head_dim][16], panel_stride floats apart; with less than a panel's worth of lanes, from any lane of one
//   scores  [rows][score_keys]
// With a panel of less than a vector, the other lanes read what lies behind it, and their scores are of no use.
template <class Isa, int rows, int vecs, int width = panel_keys>
void score_tile(const float* query, const float* keys, ptrdiff_t panel_stride, int head_dim, float* scores) {
  using Vec = typename Isa::Vec;
  constexpr int three_count = (rows + 2) / 3, panel_count = (vecs * Isa::lanes + panel_keys - 1) / panel_keys;
  const float *threes[three_count], *panels[panel_count];
  ATTEND_UNROLL
  for (int i = 0; i < three_count; ++i) threes[i] = query + 3 * i * ptrdiff_t(head_dim);
  ATTEND_UNROLL
  for (int i = 0; i < panel_count; ++i) panels[i] = keys + i * panel_stride;
  const auto go_on = [&](int steps) {
    ATTEND_UNROLL
    for (int i = 0; i < three_count; ++i) threes[i] = opaque(threes[i] + steps);
    ATTEND_UNROLL
    for (int i = 0; i < panel_count; ++i) panels[i] = opaque(panels[i] + steps * width);
  };
  for (int first = 0; first < head_dim; first += chain_dims) {
    Vec sums[rows][vecs];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::zero();
    }
    int left = at_most(head_dim - first, chain_dims);
    for (; left >= 4; left -= 4) {
      ATTEND_UNROLL
      for (int d = 0; d < 4; ++d) score_step<Isa, rows, vecs, width>(threes, head_dim, panels, d, sums);
      go_on(4);
    }
    for (; left > 0; --left) {
      score_step<Isa, rows, vecs, width>(threes, head_dim, panels, 0, sums);
      go_on(1);
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

// Scores of `rows` rows against the panels of key_count keys, from `key` on: wide tiles, then narrower ones.
template <class Isa, int rows, int vecs = Isa::score_vecs(rows)>
void score_rows(const float* query, const float* panels, int head_dim, int key_count, float* scores, int key = 0) {
  constexpr int wide = vecs * Isa::lanes;
  static_assert(wide % panel_keys == 0 || panel_keys % wide == 0, "a tile is whole panels, or panels are whole tiles");
  const ptrdiff_t panel_stride = ptrdiff_t(panel_keys) * head_dim;
  const int padded = whole_panels(key_count);
  for (; padded - key >= wide; key += wide) {
    const float* keys = panels + key / panel_keys * panel_stride + key % panel_keys;
    score_tile<Isa, rows, vecs>(query, keys, panel_stride, head_dim, scores + key);
  }
  if constexpr (wide > panel_keys) {
    if (key < padded) score_rows<Isa, rows, vecs / 2>(query, panels, head_dim, key_count, scores, key);
  }
}

}  // namespace
}  // namespace attend
