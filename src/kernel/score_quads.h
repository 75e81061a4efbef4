// Scores of very few rows and keys, where rows can be transposed: the lanes of a vector are chains, four of each row. Three
// keys as lanes would leave most of a vector empty, and packing them would take longer than their scores.
//
// A quad is four chains of one row: 64 dimensions that lie side by side, or fewer and zeros behind them. These add zeros to
// chains and to scores, which begin as +0, and so change nothing, unless the scale is infinite or no number: then scores are
// none, which the softmax of few keys leaves to other code.
#ifndef ATTEND_KERNEL_SCORE_QUADS_H
#define ATTEND_KERNEL_SCORE_QUADS_H

#include "../../include/attend/core/config.h"
#include "../numerics/float_rules.h"
#include "pack.h"

namespace attend::ATTEND_ISA {
namespace {

constexpr int quad_rows = 4, quad_dims = 4 * chain_dims;
template <class Isa>
constexpr int quads_at_once = Isa::lanes / 4;

// The first `count` floats of a row, and zeros behind them: a quad.
template <class Isa>
ATTEND_ALWAYS_INLINE void copy_quad(const float* from, int count, float* to) {
  ATTEND_UNROLL
  for (int d = 0; d < quad_dims; d += Isa::lanes) {
    const int left = count - d;
    const typename Isa::Vec some = left <= 0            ? Isa::zero()
                                   : left >= Isa::lanes ? Isa::load(from + d)
                                                        : Isa::first_of(Isa::load_first(from + d, left), Isa::zero(), left);
    Isa::store(to + d, some);
  }
}

// columns[i] = dimension d + i of each chain of some quads.
template <class Isa>
ATTEND_ALWAYS_INLINE void quad_columns(const float* const* quads, int d, typename Isa::Vec (&columns)[4]) {
  const float* at[quads_at_once<Isa>];
  ATTEND_UNROLL
  for (int i = 0; i < quads_at_once<Isa>; ++i) at[i] = quads[i] + d;
  Isa::columns_of_quads(at, chain_dims, columns);
}

// to[row][d / lanes][d % 4][d % lanes / 4][chain] = the quads of four rows, scaled, for dimensions d of a chain and vectors of
// so many lanes: that is how Isa::columns_of leaves the dimensions of four chains.
template <class Isa>
ATTEND_ALWAYS_INLINE void pack_quads(const float* const (&rows)[quad_rows], typename Isa::Vec scale, float* to) {
  for (int r = 0; r < quad_rows; ++r) {
    ATTEND_UNROLL
    for (int d = 0; d < chain_dims; d += Isa::lanes, to += 4 * Isa::lanes) {
      typename Isa::Vec chains[4], columns[4];
      ATTEND_UNROLL
      for (int c = 0; c < 4; ++c) chains[c] = Isa::mul(Isa::load(rows[r] + c * chain_dims + d), scale);
      Isa::columns_of(chains[0], chains[1], chains[2], chains[3], columns);
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) Isa::store(to + i * Isa::lanes, columns[i]);
    }
  }
}

// Adds to the scores of four rows and four keys what a quad of each gives. Lane 4 k + r of the vectors of scores, side by
// side, is that of key k and row r.
//   queries  as pack_quads stores them
template <class Isa>
ATTEND_ALWAYS_INLINE void add_quads(const float* queries, const float* const (&keys)[quad_rows],
                                    typename Isa::Vec (&scores)[quad_rows / quads_at_once<Isa>]) {
  using Vec = typename Isa::Vec;
  ATTEND_UNROLL
  for (int v = 0; v < quad_rows; v += quads_at_once<Isa>) {
    Vec sums[4] = {Isa::zero(), Isa::zero(), Isa::zero(), Isa::zero()}, chains[4];
    for (int d = 0; d < chain_dims; d += 4) {
      Vec columns[4];
      quad_columns<Isa>(keys + v, d, columns);
      ATTEND_UNROLL
      for (int i = 0; i < 4; ++i) {
        ATTEND_UNROLL
        for (int r = 0; r < quad_rows; ++r) {
          const float* const factor =
              queries + r * quad_dims + d / Isa::lanes * 4 * Isa::lanes + i * Isa::lanes + d % Isa::lanes;
          sums[r] = Isa::fma(Isa::broadcast_four(factor), columns[i], sums[r]);
        }
      }
    }
    Isa::columns_of(sums[0], sums[1], sums[2], sums[3], chains);
    Vec& score = scores[v / quads_at_once<Isa>];
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) score = Isa::add(score, chains[i]);
  }
}

// Scores of four rows, or of the same ones again where there are fewer, and of up to four keys, likewise: scores[k][r].
//   work  as many floats as eight quads have
template <class Isa>
ATTEND_NOINLINE void score_quads(const float* const (&rows)[quad_rows], float scale, const float* const (&keys)[quad_rows],
                                 int dims, float* work, float* scores) {
  using Vec = typename Isa::Vec;
  float *const queries = work, *const last = work + quad_rows * quad_dims;
  Vec sums[quad_rows / quads_at_once<Isa>];
  for (Vec& sum : sums) sum = Isa::zero();
  const Vec scales = Isa::broadcast(scale);
  const float *row[quad_rows], *key[quad_rows];
  int d = 0;
  for (; dims - d >= quad_dims; d += quad_dims) {
    for (int i = 0; i < quad_rows; ++i) row[i] = rows[i] + d, key[i] = keys[i] + d;
    pack_quads<Isa>(row, scales, queries);
    add_quads<Isa>(queries, key, sums);
  }
  if (d < dims) {
    const auto copy = [&](const float* const* from, const float** to) ATTEND_INLINE_LAMBDA {
      for (int i = 0; i < quad_rows; ++i) {
        copy_quad<Isa>(from[i] + d, dims - d, last + i * quad_dims);
        to[i] = last + i * quad_dims;
      }
    };
    copy(rows, row);
    pack_quads<Isa>(row, scales, queries);
    copy(keys, key);
    add_quads<Isa>(queries, key, sums);
  }
  ATTEND_UNROLL
  for (int v = 0; v < quad_rows / quads_at_once<Isa>; ++v) Isa::store(scores + v * Isa::lanes, sums[v]);
}

// The last quads of a row, fewer than go side by side: the one that is not whole is copied, and the last one repeated.
template <class Isa>
ATTEND_NOINLINE void last_quads(const float* row, int length, float* last, const float* (&quads)[quads_at_once<Isa>]) {
  for (const float*& quad : quads) {
    quad = row;
    if (length < quad_dims) {
      copy_quad<Isa>(row, length, last);
      quad = last;
    } else if (length > quad_dims) {
      row += quad_dims, length -= quad_dims;
    }
  }
}

// scores[i] = row i * key i, for `count` rows of whole chains. The lanes of a vector are chains of one pair, or of several
// where rows lie side by side.
//   work  as many floats as two quads have
template <class Isa>
ATTEND_NOINLINE void score_pairs(const float* rows, ptrdiff_t row_stride, const float* keys, ptrdiff_t key_stride, int count,
                                 int dims, float scale, float* work, float* scores) {
  constexpr int at_once = quads_at_once<Isa>, step = at_once * quad_dims;
  const typename Isa::Vec scales = Isa::broadcast(scale);
  const bool is_one_row = row_stride == dims && key_stride == dims;
  const int length = is_one_row ? count * dims : dims;
  float score = 0.0f;
  int left_of_score = dims;
  for (int i = 0; i < count * dims; i += length, rows += row_stride, keys += key_stride) {
    for (int d = 0; d < length; d += step) {
      const float* row[at_once];
      const float* key[at_once];
      if (length - d >= step) {
        ATTEND_UNROLL
        for (int j = 0; j < at_once; ++j) row[j] = rows + d + j * quad_dims, key[j] = keys + d + j * quad_dims;
      } else {
        last_quads<Isa>(rows + d, length - d, work, row);
        last_quads<Isa>(keys + d, length - d, work + quad_dims, key);
      }
      typename Isa::Vec sums = Isa::zero();
      ATTEND_UNROLL
      for (int t = 0; t < chain_dims; t += 4) {
        typename Isa::Vec factors[4], numbers[4];
        quad_columns<Isa>(row, t, factors);
        quad_columns<Isa>(key, t, numbers);
        ATTEND_UNROLL
        for (int k = 0; k < 4; ++k) sums = Isa::fma(Isa::mul(factors[k], scales), numbers[k], sums);
      }
      float chains[Isa::lanes];
      Isa::store(chains, sums);
      const int end = at_most(step, length - d) / chain_dims;
      for (int c = 0; c < end; ++c) {
        score = Scalar::add(score, chains[c]);
        if ((left_of_score -= chain_dims) > 0) continue;
        *scores++ = score;
        score = 0.0f, left_of_score = dims;
      }
    }
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
