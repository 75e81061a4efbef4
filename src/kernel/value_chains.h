// Weighted values of tiles so narrow that the multiply-adds of one chain would wait for each other: several chains go side by
// side, and their sums are added in the order of keys.
#ifndef ATTEND_KERNEL_VALUE_CHAINS_H
#define ATTEND_KERNEL_VALUE_CHAINS_H

#include <stddef.h>

#include "value_steps.h"

namespace attend::ATTEND_ISA {
namespace {

// Two rows of one vector, or one row of two. Of a single sum, processors run ahead into the next chain by themselves. Not of
// vectors of four lanes, where values are that narrow seldom.
template <class Isa>
constexpr bool has_narrow_tiles = Isa::lanes > 4;
constexpr int narrow_chains = 4;  // at most

// Some chains that all rows see, whole ones but for the last.
struct NarrowChains {
  const float* weights;  // [rows][score_keys]
  const float* value;
  ptrdiff_t stride;
  int last;  // keys of the last chain
  int columns;
};

template <class Isa, int rows, int vecs, int chains>
ATTEND_NOINLINE void add_value_chains(const NarrowChains& of, Sums sums) {
  typename Isa::Vec chain[chains][rows][vecs];
  const float* at[chains];
  const float* weights = of.weights;
  const ptrdiff_t stride = of.stride;
  const int columns = of.columns;
  ATTEND_UNROLL
  for (int c = 0; c < chains; ++c) {
    set_to_zero<Isa>(chain[c]);
    at[c] = opaque(of.value + c * (chain_keys * stride));
  }
  const auto step = [&](int c) ATTEND_INLINE_LAMBDA {
    value_step<Isa, float, rows, vecs>(weights + c * chain_keys, at[c], columns, 0, chain[c]);
    at[c] = opaque(at[c] + stride);
  };
  int k = 0;
  for (; k < of.last; ++k, ++weights) {
    ATTEND_UNROLL
    for (int c = 0; c < chains; ++c) step(c);
  }
  for (; k < chain_keys; ++k, ++weights) {
    ATTEND_UNROLL
    for (int c = 0; c < chains - 1; ++c) step(c);
  }
  ATTEND_UNROLL
  for (int c = 0; c < chains; ++c) {
    add_chain<Isa>(chain[c], sums, 0, columns);
    sums.begun = true;
  }
}

// Chains of `left` keys side by side, at most narrow_chains of them, and more than one. Returns how many keys these were.
template <class Isa, int rows, int vecs>
ATTEND_ALWAYS_INLINE int add_narrow_chains(const float* weights, const float* value, ptrdiff_t stride, int left, int columns,
                                           const Sums& sums) {
  const int keys = at_most(left, narrow_chains * chain_keys), chains = (keys + chain_keys - 1) / chain_keys;
  const NarrowChains of = {weights, value, stride, keys - (chains - 1) * chain_keys, columns};
  if (chains == 2) {
    add_value_chains<Isa, rows, vecs, 2>(of, sums);
  } else if (chains == 3) {
    add_value_chains<Isa, rows, vecs, 3>(of, sums);
  } else {
    add_value_chains<Isa, rows, vecs, 4>(of, sums);
  }
  return keys;
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
