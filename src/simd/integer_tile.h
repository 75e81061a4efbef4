// What the rows of a tile of integer attention need for their weights: the scales of their scores, and what the weights of a chunk
// are relative to.
#pragma once

#include "../numerics/integer_softmax.h"

namespace attend {
namespace {

// The score scales of up to eight rows, side by side.
struct RowScales {
  alignas(32) int32_t factor[8];  // shifted right by `left`, as it is used
  alignas(32) int32_t right[8];
  alignas(32) int32_t left[8];
  int32_t end[8];

  void set(int row, const core::ScoreScale& scale) {
    factor[row] = int32_t(scale.factor >> scale.left);
    right[row] = scale.right;
    left[row] = scale.left;
    end[row] = int32_t(scale.end);
  }
  core::ScoreScale operator[](int row) const {
    return {uint32_t(factor[row]) << left[row], right[row], left[row], uint32_t(end[row])};
  }
};

// What the weights of a chunk are relative to for up to eight rows, and their sums.
struct RowWeights {
  alignas(32) int32_t largest[8];
  alignas(32) int32_t exponent[8];
  alignas(32) int32_t fraction[8];
  alignas(32) uint32_t sum[8];
};

// What the weights of rows are relative to, and their weights, one row after the other.
template <class Isa, int rows>
ATTEND_ALWAYS_INLINE void references_by_rows(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& to) {
  for (int r = 0; r < rows; ++r) {
    to.largest[r] = Isa::largest(tile[r]);
    const Reference reference = reference_of(to.largest[r], scales[r]);
    to.exponent[r] = reference.exponent;
    to.fraction[r] = int32_t(reference.fraction);
  }
}
template <class Isa, int rows>
ATTEND_ALWAYS_INLINE void weights_by_rows(int32_t (*tile)[integer_chunk], const RowScales& scales, RowWeights& by) {
  for (int r = 0; r < rows; ++r) by.sum[r] = Isa::weights(tile, r, by.largest[r], scales[r], uint32_t(by.fraction[r]));
}

}  // namespace
}  // namespace attend
