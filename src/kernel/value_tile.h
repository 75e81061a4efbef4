// Weighted sums of values for a few query rows.
#pragma once

#include <stddef.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "operands.h"
#include "pack.h"

namespace attend {
namespace {

// Values of consecutive keys, `stride` floats apart.
struct FloatValues {
  const float* data;
  ptrdiff_t stride;
};

// One step of a chain: chain[r][v] += weight[r] * value[v], for rows from `first` on.
// With `partial` the one vector has only its first `columns` lanes; nothing beyond them is read.
template <class Isa, int rows, int vecs, bool partial>
ATTEND_ALWAYS_INLINE void value_step(const float* weights, const float* value, int columns, int first,
                                     typename Isa::Vec (&chain)[rows][vecs]) {
  typename Isa::Vec row[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) {
    row[v] = partial ? Isa::load_first(value, columns) : Isa::load(value + v * Isa::lanes);
  }
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    if (r < first) continue;
    const typename Isa::Factor w = Isa::factor(weights[r * config::score_keys]);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) chain[r][v] = Isa::fma(w, row[v], chain[r][v]);
  }
}

// Asks for values ahead, for instruction sets that ask too late by themselves: one row waits for memory more than for
// arithmetic, a few as long. These come back for the next columns of the same keys, and then for the next chain.
template <class Isa, int rows, int floats>
ATTEND_ALWAYS_INLINE void prefetch_values(const float* value, ptrdiff_t stride) {
  if constexpr (prefetches<Isa>(rows)) {
    prefetch_lines<floats* int(sizeof(float))>(value + floats, value + chain_keys * stride);
  } else if constexpr (rows == 1 && Isa::prefetch_ahead > 0) {
    constexpr int cache_line = 16;
    ATTEND_UNROLL
    for (int i = 0; i < floats; i += cache_line) __builtin_prefetch(value + Isa::prefetch_ahead + i);
  }
}

// Whether each row sees one key more than the row before.
template <int rows>
bool is_triangle(const int* visible) {
  bool is = true;
  ATTEND_UNROLL
  for (int r = 1; r < rows; ++r) is &= visible[r] == visible[0] + r;
  return is;
}

// A chain of weighted values, sums[r] += sum over k < visible[r] of weights[r][k] * values[k], k ascending, for `rows` rows
// and `vecs` vectors of columns.
//
// The chains stay in registers through the loop over keys. First come the keys that all rows see, then those that only the
// later rows do, so that a hidden value is never touched. With `partial` the one vector has only its first `columns` lanes;
// nothing beyond them is read or written.
//   weights  [rows][score_keys]
//   visible  [rows], never falling
template <class Isa, int rows, int vecs, bool partial, bool ragged>
void value_tile(const float* weights, FloatValues values, const int* visible, Sums sums, int column) {
  using Vec = typename Isa::Vec;
  static_assert(!partial || vecs == 1, "only one vector can be partial");
  const int columns = sums.value_dim - column;
  Vec chain[rows][vecs];
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) chain[r][v] = Isa::zero();
  }
  const float* value = values.data + column;
  // Four at a time: the processor foresees the end of a loop of few rounds, and the rows of a triangle end in many places.
  int k = 0;
  for (; k + 4 <= visible[0]; k += 4) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i, value += values.stride) {
      value_step<Isa, rows, vecs, partial>(weights + k + i, value, columns, 0, chain);
      if (!partial && visible[0] == chain_keys) prefetch_values<Isa, rows, vecs * Isa::lanes>(value, values.stride);
    }
  }
  for (; k < visible[0]; ++k, value += values.stride) {
    value_step<Isa, rows, vecs, partial>(weights + k, value, columns, 0, chain);
  }
  if constexpr (ragged) {
    if (is_triangle<rows>(visible)) {  // soon done, because causal attention has one for every tile
      ATTEND_UNROLL
      for (int i = 1; i < rows; ++i, value += values.stride) {
        value_step<Isa, rows, vecs, partial>(weights + k + i - 1, value, columns, i, chain);
      }
    } else {
      for (int first = 0; k < visible[rows - 1]; ++k, value += values.stride) {
        while (k >= visible[first]) ++first;
        value_step<Isa, rows, vecs, partial>(weights + k, value, columns, first, chain);
      }
    }
  }
  float* to = sums.data + column;
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* const at = to + v * Isa::lanes;
      const Vec before = !sums.begun ? Isa::zero() : partial ? Isa::load_first(at, columns) : Isa::load(at);
      const Vec sum = Isa::add(before, chain[r][v]);
      if (partial) {
        Isa::store_first(at, sum, columns);
      } else {
        Isa::store(at, sum);
      }
    }
    to += sums.value_dim;
  }
}

// The same for all columns from `column` on: wide tiles, then narrower ones, then what is left of a vector.
template <class Isa, int rows, bool ragged, int vecs = Isa::value_vecs(rows)>
void value_columns(const float* weights, FloatValues values, const int* visible, Sums sums, int column = 0) {
  for (; sums.value_dim - column >= vecs * Isa::lanes; column += vecs * Isa::lanes) {
    value_tile<Isa, rows, vecs, false, ragged>(weights, values, visible, sums, column);
  }
  if constexpr (vecs > 1) {
    if (column < sums.value_dim) value_columns<Isa, rows, ragged, vecs / 2>(weights, values, visible, sums, column);
  } else if (column < sums.value_dim) {
    value_tile<Isa, rows, 1, true, ragged>(weights, values, visible, sums, column);
  }
}

template <class Isa, int rows>
void value_rows(const float* weights, FloatValues values, const int* visible, Sums sums) {
  if (rows == 1 || visible[0] == visible[rows - 1]) {
    value_columns<Isa, rows, false>(weights, values, visible, sums);
  } else {
    value_columns<Isa, rows, true>(weights, values, visible, sums);
  }
}

}  // namespace
}  // namespace attend
