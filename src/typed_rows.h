// Decode over keys and values of other formats: one row, widened in registers, at the speed of memory. For hosts.
#pragma once

#include <stddef.h>

#include "../include/attend/config.h"
#include "float_rules.h"
#include "formats.h"
#include "pack.h"
#include "value_tile.h"

namespace attend {
namespace {

template <class Isa, class Number, int vecs>
void typed_score_tile(const float* query, const Number* keys, int head_dim, float* scores) {
  using Vec = typename Isa::Vec;
  constexpr int panel_count = (vecs * Isa::lanes + panel_keys - 1) / panel_keys;
  const ptrdiff_t panel_stride = ptrdiff_t(panel_keys) * head_dim;
  const Number* panels[panel_count];
  ATTEND_UNROLL
  for (int i = 0; i < panel_count; ++i) panels[i] = keys + i * panel_stride;
  for (int first = 0; first < head_dim; first += chain_dims) {
    Vec sums[vecs];
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[v] = Isa::zero();
    for (int left = at_most(head_dim - first, chain_dims); left > 0; --left, ++query) {
      const typename Isa::Factor q = Isa::factor(*query);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        sums[v] = Isa::fma(q, Isa::load(panels[v * Isa::lanes / panel_keys] + v * Isa::lanes % panel_keys), sums[v]);
      }
      ATTEND_UNROLL
      for (int i = 0; i < panel_count; ++i) panels[i] = hidden(panels[i] + panel_keys);
    }
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* to = scores + v * Isa::lanes;
      Isa::store(to, first == 0 ? sums[v] : Isa::add(Isa::load(to), sums[v]));
    }
  }
}

// Scores of one row against the panels of key_count keys.
template <class Isa, class Number, int vecs = 8>
void typed_scores(const float* query, const Number* panels, int head_dim, int key_count, float* scores) {
  constexpr int wide = vecs * Isa::lanes;
  int left = whole_panels(key_count);
  for (; left >= wide; left -= wide) {
    typed_score_tile<Isa, Number, vecs>(query, panels, head_dim, scores);
    panels += ptrdiff_t(wide) * head_dim;
    scores += wide;
  }
  if constexpr (wide > panel_keys) {
    if (left > 0) typed_scores<Isa, Number, vecs / 2>(query, panels, head_dim, left, scores);
  }
}

template <class Isa, class Number, int vecs>
void typed_value_tile(const float* weights, const Number* value, ptrdiff_t stride, int keys, Sums sums, int column) {
  using Vec = typename Isa::Vec;
  Vec chain[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) chain[v] = Isa::zero();
  value += column;
  for (int k = 0; k < keys; ++k, value += stride) {
    const typename Isa::Factor w = Isa::factor(weights[k]);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) chain[v] = Isa::fma(w, Isa::load(value + v * Isa::lanes), chain[v]);
  }
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    float* const to = sums.data + column + v * Isa::lanes;
    Isa::store(to, Isa::add(sums.begun ? Isa::load(to) : Isa::zero(), chain[v]));
  }
}

template <class Isa, class Number, int vecs = 8>
void typed_values(const float* weights, const Number* values, ptrdiff_t stride, int keys, Sums sums, int column = 0) {
  for (; sums.value_dim - column >= vecs * Isa::lanes; column += vecs * Isa::lanes) {
    typed_value_tile<Isa, Number, vecs>(weights, values, stride, keys, sums, column);
  }
  if constexpr (vecs > 1) {
    if (column < sums.value_dim) typed_values<Isa, Number, vecs / 2>(weights, values, stride, keys, sums, column);
  } else {
    for (; column < sums.value_dim; ++column) {
      float chain = 0.0f;
      for (int k = 0; k < keys; ++k) chain = Scalar::fma(weights[k], widen(values[k * stride + column]), chain);
      sums.data[column] = Scalar::add(sums.begun ? sums.data[column] : 0.0f, chain);
    }
  }
}

}  // namespace
}  // namespace attend
