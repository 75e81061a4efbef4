// Outputs of a projection of one token, against weights that lie in rows, in any number format: 16 rows at a time are
// transposed on the way, floats in registers, other formats to a panel in the first-level cache, from which they are widened as
// they are loaded.
#ifndef ATTEND_KERNEL_OUTPUT_ROWS_H
#define ATTEND_KERNEL_OUTPUT_ROWS_H

#include <stddef.h>

#include "../../include/attend/core/config.h"
#include "multiply_add.h"
#include "output_panel.h"
#include "pack.h"
#include "tile_sizes.h"

namespace attend::ATTEND_ISA {
namespace {

// Numbers of a row in 16 bytes, which are transposed at a time.
template <class Number>
constexpr int piece_inputs = 16 / int(sizeof(Number));

// sums += columns c to 3 of 16 rows, times their inputs, but for those before column `begin`, which were added already.
template <class Isa, int c = 0, int vecs>
ATTEND_ALWAYS_INLINE void add_columns(const typename Isa::Vec (&columns)[vecs][4], const float* input, int begin,
                                      typename Isa::Vec (&sums)[vecs]) {
  if (c >= begin) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      if constexpr (Isa::lane_factors == 4) {
        sums[v] = Isa::template fma_lane<c>(Isa::load(input), columns[v][c], sums[v]);
      } else {
        sums[v] = Isa::fma(Isa::factor(input[c]), columns[v][c], sums[v]);
      }
    }
  }
  if constexpr (c < 3) add_columns<Isa, c + 1>(columns, input, begin, sums);
}

// Four columns of 16 rows.
template <class Isa, int vecs>
ATTEND_ALWAYS_INLINE void add_piece(const float* input, const float* rows, ptrdiff_t stride, int begin,
                                    typename Isa::Vec (&sums)[vecs]) {
  typename Isa::Vec columns[vecs][4];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) Isa::columns_of_rows(rows + v * Isa::lanes * stride, stride, columns[v]);
  add_columns<Isa>(columns, input, begin, sums);
}

// to[o] = sum over i of rows[o][i] * input[i] for 16 rows, in chains of chain_dims inputs.
//   input   [inputs], at least piece_inputs
//   rows    [16][inputs], `stride` numbers apart
// Whether lines of rows should be prefetched was measured: src/guide/measured-projections.md.
//
// Floats. The last four columns of a chain that is not whole begin before those that are left, so that nothing behind a row is
// read.
template <class Isa>
ATTEND_NOINLINE void output_rows(const float* input, const float* rows, ptrdiff_t stride, int inputs, float* to) {
  constexpr int vecs = panel_keys / Isa::lanes, piece = piece_inputs<float>;
  typename Isa::Vec sums[vecs], totals[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) totals[v] = Isa::broadcast(-0.0f);  // to which adding a chain changes not even a zero's sign
  for (; inputs > 0; inputs -= chain_dims) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[v] = Isa::zero();
    int left = at_most(inputs, chain_dims);
    for (; left >= piece; left -= piece, input = opaque(input + piece), rows = opaque(rows + piece)) {
      add_piece<Isa>(input, rows, stride, 0, sums);
    }
    if (left > 0) add_piece<Isa>(input + left - piece, rows + left - piece, stride, piece - left, sums);
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) totals[v] = Isa::add(totals[v], sums[v]);
  }
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) Isa::store(to + v * Isa::lanes, totals[v]);
}

// As many chains as go side by side at most, as a panel, and a piece before them.
constexpr int row_chains = 4;
template <class Number>
struct RowPanel {
  alignas(config::alignment) Number numbers[(piece_inputs<Number> + row_chains * chain_dims) * panel_keys];
};

// Numbers that are widened. The last piece begins before its place, as above: where there are fewer inputs than a piece, before
// the panel.
template <class Isa, class Number>
ATTEND_NOINLINE void output_rows(const float* input, const Number* rows, ptrdiff_t stride, int inputs, RowPanel<Number>& memory,
                                 float* to) {
  constexpr int vecs = panel_keys / Isa::lanes, piece = piece_inputs<Number>;
  constexpr int chains = vecs == 1 || sizeof(Number) == 1 ? row_chains : row_chains / 2, block = chains * chain_dims;
  Number* const panel = memory.numbers + piece * panel_keys;
  typename Isa::Vec totals[vecs];
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) totals[v] = Isa::zero();
  bool first = true;
  for (; inputs > 0; inputs -= block, input += block, rows += block) {
    const int count = at_most(inputs, block);
    int i = 0;
    for (; count - i >= piece; i += piece) Isa::transpose_rows(rows + i, stride, panel + i * panel_keys);
    if (i < count) Isa::transpose_rows(rows + count - piece, stride, panel + (count - piece) * panel_keys);
    PanelInputs<Number> at = {input, panel};
    add_inputs<Isa, Number, false, chains>(at, count, first, totals);
  }
  ATTEND_UNROLL
  for (int v = 0; v < vecs; ++v) Isa::store(to + v * Isa::lanes, totals[v]);
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
