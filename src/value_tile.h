// Weighted sums of values for a few query rows.
#pragma once

#include <stddef.h>

#include "../include/attend/config.h"
#include "float_rules.h"

namespace attend {
namespace {

// A chain of weighted values, output[r] += sum over k < visible[r] of weights[r][k] * values[k], k ascending, for `rows` rows
// and `vecs` vectors of columns.
//
// The sums stay in registers through the loop over keys. First come the keys that all rows see, then those that only the later
// rows do, so that a hidden value is never touched. With `partial` the one vector has only its first `columns` lanes; nothing
// beyond them is read or written.
//   weights  [rows][score_keys]
//   values   value_stride floats apart
//   visible  [rows], never falling
template <class Isa, int rows, int vecs, bool partial, bool ragged>
void value_tile(const float* weights, const float* values, ptrdiff_t value_stride, const int* visible, float* const* output,
                ptrdiff_t column, int columns) {
  using Vec = typename Isa::Vec;
  static_assert(!partial || vecs == 1, "only one vector can be partial");
  const auto load = [columns](const float* from) { return partial ? Isa::load_first(from, columns) : Isa::load(from); };
  Vec sums[rows][vecs];
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::zero();
  }
  values += column;
  const int common = visible[0];
  for (int k = 0; k < common; ++k) {
    Vec value[vecs];
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) value[v] = load(values + v * Isa::lanes);
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      const typename Isa::Factor w = Isa::factor(weights[r * config::score_keys + k]);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::fma(w, value[v], sums[r][v]);
    }
    values += value_stride;
  }
  if constexpr (ragged) {
    for (int k = common; k < visible[rows - 1]; ++k) {
      Vec value[vecs];
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) value[v] = load(values + v * Isa::lanes);
      ATTEND_UNROLL
      for (int r = 1; r < rows; ++r) {
        if (k >= visible[r]) continue;
        const typename Isa::Factor w = Isa::factor(weights[r * config::score_keys + k]);
        ATTEND_UNROLL
        for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::fma(w, value[v], sums[r][v]);
      }
      values += value_stride;
    }
  }
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* to = output[r] + column + v * Isa::lanes;
      const Vec sum = Isa::add(load(to), sums[r][v]);
      if (partial) {
        Isa::store_first(to, sum, columns);
      } else {
        Isa::store(to, sum);
      }
    }
  }
}

// The same for all value_dim columns from `column` on: wide tiles, then narrower ones, then what is left of a vector.
template <class Isa, int rows, bool ragged, int vecs = Isa::value_vecs(rows)>
void value_columns(const float* weights, const float* values, ptrdiff_t value_stride, const int* visible, float* const* output,
                   int value_dim, int column = 0) {
  for (; value_dim - column >= vecs * Isa::lanes; column += vecs * Isa::lanes) {
    value_tile<Isa, rows, vecs, false, ragged>(weights, values, value_stride, visible, output, column, 0);
  }
  if constexpr (vecs > 1) {
    if (column < value_dim) {
      value_columns<Isa, rows, ragged, vecs / 2>(weights, values, value_stride, visible, output, value_dim, column);
    }
  } else if (column < value_dim) {
    value_tile<Isa, rows, 1, true, ragged>(weights, values, value_stride, visible, output, column, value_dim - column);
  }
}

template <class Isa, int rows>
void value_rows(const float* weights, const float* values, ptrdiff_t value_stride, const int* visible, float* const* output,
                int value_dim) {
  if (rows == 1 || visible[0] == visible[rows - 1]) {
    value_columns<Isa, rows, false>(weights, values, value_stride, visible, output, value_dim);
  } else {
    value_columns<Isa, rows, true>(weights, values, value_stride, visible, output, value_dim);
  }
}

}  // namespace
}  // namespace attend
