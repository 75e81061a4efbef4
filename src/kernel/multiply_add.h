// One step of a tile's multiply-adds, where factors are repeated over a register; lane_factors.h has the other kind.
#ifndef ATTEND_KERNEL_MULTIPLY_ADD_H
#define ATTEND_KERNEL_MULTIPLY_ADD_H

#include "../numerics/float_rules.h"
#include "tile_sizes.h"

namespace attend::ATTEND_ISA {
namespace {

// sums[r][v] += factor(r) * vector(v), for rows from `first` on.
//
// Registers hold the smaller group, factors or vectors, and the others come one by one. Numbers that are widened always come
// one by one: if all were widened before the first is used, GCC would spill sums.
template <class Isa, class Number, int rows, int vecs, class Factor, class Vector>
ATTEND_ALWAYS_INLINE void multiply_by_factors(Factor factor, Vector vector, typename Isa::Vec (&sums)[rows][vecs],
                                              int first = 0) {
  // What is used once, by a single row or with a single vector, may be an operand in memory.
  const auto add = [&](typename Isa::Factor a, typename Isa::Vec b, typename Isa::Vec& sum) ATTEND_INLINE_LAMBDA {
    sum = rows == 1 || vecs == 1 ? Isa::fma(a, b, sum) : Isa::accumulate(a, b, sum);
  };
  if constexpr (widens<Number> || rows < vecs) {
    typename Isa::Factor factors[rows];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (r >= first) factors[r] = factor(r);
    }
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      const typename Isa::Vec operand = vector(v);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        if (r >= first) add(factors[r], operand, sums[r][v]);
      }
    }
  } else {
    typename Isa::Vec vectors[vecs];
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) vectors[v] = vector(v);
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (r < first) continue;
      const typename Isa::Factor operand = factor(r);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) add(operand, vectors[v], sums[r][v]);
    }
  }
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
