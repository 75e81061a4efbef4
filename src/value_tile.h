// Weighted sums of values for a few query rows.
#pragma once

#include <stddef.h>

#include "../include/attend/config.h"
#include "float_rules.h"

namespace attend {
namespace {

// output[r][c] += sum over k of weights[r][k] * values[k][c], k ascending, for `rows` rows and `vecs` vectors of columns.
//
// The sums continue from what output holds and stay in registers through the loop over keys. With `partial` the one vector has
// only its first `columns` lanes; nothing beyond them is read or written.
//   weights  [rows][config::score_keys]
//   values   [key_count], value_stride floats apart
//   output   one pointer for each row
template <class Isa, int rows, int vecs, bool partial>
void value_tile(const float* weights, const float* values, ptrdiff_t value_stride, int key_count, float* const* output,
                ptrdiff_t column, int columns) {
  using Vec = typename Isa::Vec;
  static_assert(!partial || vecs == 1, "only one vector can be partial");
  Vec sums[rows][vecs];
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      const float* from = output[r] + column + v * Isa::lanes;
      sums[r][v] = partial ? Isa::load_first(from, columns) : Isa::load(from);
    }
  }
  values += column;
  for (int k = 0; k < key_count; ++k) {
    Vec value[vecs];
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      const float* from = values + v * Isa::lanes;
      value[v] = partial ? Isa::load_first(from, columns) : Isa::load(from);
    }
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      const Vec w = Isa::broadcast(weights[r * config::score_keys + k]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::fma(w, value[v], sums[r][v]);
    }
    values += value_stride;
  }
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* to = output[r] + column + v * Isa::lanes;
      if (partial) {
        Isa::store_first(to, sums[r][v], columns);
      } else {
        Isa::store(to, sums[r][v]);
      }
    }
  }
}

// The same for all value_dim columns: wide tiles, then single vectors, then what is left of one.
template <class Isa, int rows>
void value_rows(const float* weights, const float* values, ptrdiff_t value_stride, int key_count, float* const* output,
                int value_dim) {
  constexpr int vecs = Isa::value_vecs(rows);
  int column = 0;
  for (; value_dim - column >= vecs * Isa::lanes; column += vecs * Isa::lanes) {
    value_tile<Isa, rows, vecs, false>(weights, values, value_stride, key_count, output, column, 0);
  }
  for (; value_dim - column >= Isa::lanes; column += Isa::lanes) {
    value_tile<Isa, rows, 1, false>(weights, values, value_stride, key_count, output, column, 0);
  }
  if constexpr (Isa::lanes > 1) {
    if (column < value_dim) {
      value_tile<Isa, rows, 1, true>(weights, values, value_stride, key_count, output, column, value_dim - column);
    }
  }
}

}  // namespace
}  // namespace attend
