// Weighted sums of values for a few query rows.
#pragma once

#include <stddef.h>

#include "../include/attend/config.h"
#include "float_rules.h"

namespace attend {
namespace {

// Where a chain of keys begins and where it goes. Mostly it is whole: it starts at zero and is added to the output. Where the
// rows of a tile see different numbers of its keys, the part that all see is put aside, and each row's own rest continues it.
enum class Chain { whole, begin, finish };

// A chain of weighted values, sum over k of weights[r][k] * values[k][c], k ascending, for `rows` rows and `vecs` vectors of
// columns.
//
// The sums stay in registers through the loop over keys. With `partial` the one vector has only its first `columns` lanes;
// nothing beyond them is read or written.
//   weights  [rows][score_keys]
//   values   [key_count], value_stride floats apart
//   begun    one pointer for each row: where Chain::begin puts its sums and Chain::finish finds them
//   output   one pointer for each row: what the chain is added to
template <class Isa, int rows, int vecs, Chain chain, bool partial>
void value_tile(const float* weights, const float* values, ptrdiff_t value_stride, int key_count, float* const* begun,
                float* const* output, ptrdiff_t column, int columns) {
  using Vec = typename Isa::Vec;
  static_assert(!partial || vecs == 1, "only one vector can be partial");
  const auto load = [columns](const float* from) { return partial ? Isa::load_first(from, columns) : Isa::load(from); };
  Vec sums[rows][vecs];
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      sums[r][v] = chain == Chain::finish ? load(begun[r] + column + v * Isa::lanes) : Isa::zero();
    }
  }
  values += column;
  for (int k = 0; k < key_count; ++k) {
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
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* to = (chain == Chain::begin ? begun[r] : output[r]) + column + v * Isa::lanes;
      const Vec sum = chain == Chain::begin ? sums[r][v] : Isa::add(load(to), sums[r][v]);
      if (partial) {
        Isa::store_first(to, sum, columns);
      } else {
        Isa::store(to, sum);
      }
    }
  }
}

// The same for all value_dim columns: wide tiles, then single vectors, then what is left of one.
template <class Isa, int rows, Chain chain>
void value_rows(const float* weights, const float* values, ptrdiff_t value_stride, int key_count, float* const* begun,
                float* const* output, int value_dim) {
  constexpr int vecs = Isa::value_vecs(rows);
  int column = 0;
  for (; value_dim - column >= vecs * Isa::lanes; column += vecs * Isa::lanes) {
    value_tile<Isa, rows, vecs, chain, false>(weights, values, value_stride, key_count, begun, output, column, 0);
  }
  for (; value_dim - column >= Isa::lanes; column += Isa::lanes) {
    value_tile<Isa, rows, 1, chain, false>(weights, values, value_stride, key_count, begun, output, column, 0);
  }
  if constexpr (Isa::lanes > 1) {
    if (column < value_dim) {
      value_tile<Isa, rows, 1, chain, true>(weights, values, value_stride, key_count, begun, output, column,
                                            value_dim - column);
    }
  }
}

// One chain for rows that see different numbers of its keys, never falling from row to row: what all see, together; then what
// only the later ones see, row by row, so that a hidden value is never touched.
template <class Isa, int rows>
void value_chain(const float* weights, const float* values, ptrdiff_t value_stride, const int* visible, float* begun,
                 float* const* output, int value_dim) {
  const int common = visible[0];
  if (common == visible[rows - 1]) {
    value_rows<Isa, rows, Chain::whole>(weights, values, value_stride, common, nullptr, output, value_dim);
  } else {
    float* aside[rows];
    for (int r = 0; r < rows; ++r) aside[r] = begun + ptrdiff_t(r) * value_dim;
    value_rows<Isa, rows, Chain::begin>(weights, values, value_stride, common, aside, output, value_dim);
    for (int r = 0; r < rows; ++r) {
      if (visible[r] == 0) continue;
      value_rows<Isa, 1, Chain::finish>(weights + r * config::score_keys + common, values + common * value_stride, value_stride,
                                        visible[r] - common, aside + r, output + r, value_dim);
    }
  }
}

}  // namespace
}  // namespace attend
