// Scores of a few query rows against so few keys that they are lanes of one vector.
#ifndef ATTEND_KERNEL_SCORE_FEW_H
#define ATTEND_KERNEL_SCORE_FEW_H

#include "../../include/attend/core/config.h"
#include "multiply_add.h"
#include "tile_sizes.h"

namespace attend::ATTEND_ISA {
namespace {

// Adds to the scores of rows and of the keys that are lanes of a vector, whose dimensions lie `width` floats apart: chains of
// chain_dims dimensions in ascending order, so many side by side, because each multiply-add of one waits for the one before.
//   factor(r, d)  the number of row r at dimension d, scaled
template <class Isa, int chains, int width, int rows, class Factor>
ATTEND_ALWAYS_INLINE void add_some_chains(Factor factor, const float* keys, int first, int length,
                                          typename Isa::Vec (&scores)[rows]) {
  typename Isa::Vec sums[rows][chains];
  set_to_zero<Isa>(sums);
  keys += first * ptrdiff_t(width);
  for (int t = 0; t < length; ++t, keys += width) {
    ATTEND_UNROLL
    for (int i = 0; i < chains; ++i) {
      const typename Isa::Vec key = Isa::load(keys + i * chain_dims * width);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) sums[r][i] = Isa::fma(factor(r, first + t + i * chain_dims), key, sums[r][i]);
    }
  }
  ATTEND_UNROLL
  for (int i = 0; i < chains; ++i) {
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) scores[r] = Isa::add(scores[r], sums[r][i]);
  }
}
template <class Isa, int chains, int width, int rows, class Factor>
ATTEND_ALWAYS_INLINE void add_chains(Factor factor, const float* keys, int d, int dims, typename Isa::Vec (&scores)[rows]) {
  constexpr int at_once = chains * chain_dims;
  for (; dims - d >= at_once; d += at_once) add_some_chains<Isa, chains, width>(factor, keys, d, chain_dims, scores);
  if constexpr (chains > 1) {
    add_chains<Isa, chains / 2, width>(factor, keys, d, dims, scores);
  } else if (d < dims) {
    add_some_chains<Isa, 1, width>(factor, keys, d, dims - d, scores);
  }
}

// Scores of `rows` rows against a panel of few_panel_keys keys.
template <class Isa, int rows>
ATTEND_NOINLINE void score_few(const float* query, const Panels& panel, float* scores) {
  constexpr int chains = rows <= 2 ? 4 : rows <= 4 ? 2 : 1;  // some 8 sums, of which none waits for another
  const ptrdiff_t stride = panel.head_dim;
  typename Isa::Vec sums[rows];
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) sums[r] = Isa::zero();
  add_chains<Isa, chains, few_panel_keys>([=](int r, int d) ATTEND_INLINE_LAMBDA { return Isa::factor(query[r * stride + d]); },
                                          static_cast<const float*>(panel.data), 0, panel.head_dim, sums);
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) Isa::store(scores + r * config::score_keys, sums[r]);
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
