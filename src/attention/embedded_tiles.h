// Tiles of the embedded pipeline: a few rows over keys that lie one after another, by the chains of an instruction set. What a
// caller has in memory is taken by reference, so that it needs no register through the loops.
#pragma once

#include "../kernel/pack.h"
#include "../simd/chains.h"

namespace attend {
namespace {

// How many columns one call of Isa::chains takes.
template <class Isa, class Number>
constexpr int chain_columns(const ChainsOf<Number>&, bool /*apart*/) {
  return Isa::typed_columns;
}
template <class Isa>
ATTEND_ALWAYS_INLINE constexpr int chain_columns(const Chains& chains, bool apart) {
  return Isa::columns(chains.rows, apart);
}

// Without arrays, columns lie side by side: then the loops for others are not there.
template <class Isa, bool arrays, class Number>
ATTEND_ALWAYS_INLINE void run_chains(const ChainsOf<Number>& chains) {
  Isa::chains(chains);
}
template <class Isa, bool arrays>
ATTEND_ALWAYS_INLINE void run_chains(const Chains& chains) {
  if constexpr (arrays) {
    Isa::chains(chains);
  } else {
    Isa::panel_chains(chains);
  }
}

// Scores of a tile: to[r][column] for the columns begin ... end - 1 of a chain, whose keys are `first` + column of an array or,
// if there are no arrays, of panels. Of chains, rows, to, a and a_stride (the queries), a_scale, b_step and b_stride say how.
template <class Isa, bool arrays, class Number>
ATTEND_ALWAYS_INLINE void score_tile(ChainsOf<Number>& chains, const core::Problem& problem, const float* const& queries,
                                     const Number* const& keys, int first, int end) {
  const int wide = chain_columns<Isa>(chains, arrays && !problem.key_panels);
  for (; chains.column < end; chains.column += wide) {
    chains.a = queries;
    chains.b = keys + chains.b_stride * (first + chains.column);
    chains.columns = at_most(end - chains.column, wide);
    if (!arrays || problem.key_panels) {
      // A panel is whole, whatever `end` is.
      const int panel = (first + chains.column) & -panel_keys;
      chains.b += panel * ptrdiff_t(problem.head_dim - 1);
      chains.columns = wide;
    }
    for (int left = problem.head_dim; left > 0; left -= chain_dims) {
      chains.adds = left != problem.head_dim;
      chains.steps = at_most(left, chain_dims);
      run_chains<Isa, arrays>(chains);
      chains.a += chain_dims;
      chains.b += chain_dims * chains.b_step;
    }
  }
}

// Weighted sums of a tile: to[r][column] for the columns begin ... end - 1 of the values from chains.b on, of which b's first
// is number `begin`. Of chains, all but columns says how.
template <class Isa, bool arrays, class Number>
ATTEND_ALWAYS_INLINE void value_tile(ChainsOf<Number>& chains, int begin, const int& end) {
  const int wide = chain_columns<Isa>(chains, false);
  for (chains.column = begin; chains.column < end; chains.column += wide) {
    chains.columns = at_most(end - chains.column, wide);
    run_chains<Isa, arrays>(chains);
    chains.b += wide;
  }
}

}  // namespace
}  // namespace attend
