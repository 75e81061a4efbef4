// Packs keys into panels; helpers that all rooms use.
#ifndef ATTEND_KERNEL_PACK_H
#define ATTEND_KERNEL_PACK_H

#include <stddef.h>

#include "../../include/attend/core/attention.h"
#include "../isa/scalar/operations.h"
#include "../numerics/bits.h"
#include "vectors.h"

namespace attend::ATTEND_ISA {
namespace {

constexpr int at_most(int a, int limit) { return a < limit ? a : limit; }
constexpr int at_least(int a, int limit) { return a > limit ? a : limit; }
constexpr int whole_panels(int keys) { return (keys + panel_keys - 1) & -panel_keys; }

constexpr int cache_line = 64;

// Prefetches lines twice: far ahead into the second-level cache, and nearer into the first.
template <int bytes>
ATTEND_ALWAYS_INLINE void prefetch_lines(const void* near, const void* far) {
  ATTEND_UNROLL
  for (int i = 0; i < bytes; i += cache_line) {
    __builtin_prefetch(static_cast<const char*>(far) + i, 0, 2);
    __builtin_prefetch(static_cast<const char*>(near) + i, 0, 3);
  }
}

// Whether a few rows that read the same keys wait for memory about as long as they compute, on processors whose hardware
// prefetcher starts too late.
template <class Isa>
constexpr bool prefetches(int rows) {
  return Isa::prefetch_ahead > 0 && rows >= 2 && rows <= 4;
}

template <class Float>
Float* element(const core::Tensor<Float>& tensor, int token, int head) {
  return tensor.data + token * tensor.token_stride + head * tensor.head_stride;
}

// scale * log2(e) rounded once: log2(e) in two floats, so that the second product only corrects the first. With queries scaled
// by this, scores come out in base 2.
inline float base2_scale(float scale) {
  constexpr float high = 1.442695f, low = 1.925963e-08f;
  return Scalar::fma(scale, high, Scalar::mul(scale, low));
}

// Up to four keys of an array are packed as a panel of 4 lanes: packing 16 would take longer than the rest of the call.
constexpr int few_panel_keys = 4;

// Keys that lie in rows become one panel, panel[d][lane] = keys[lane][d], for `width` lanes: panel_keys or few_panel_keys.
// Lanes past key_count get the last key, so that nothing beyond it is read; what they score is not looked at.
template <class Isa, int width>
ATTEND_NOINLINE void pack_panel(const float* keys, ptrdiff_t key_stride, int key_count, int head_dim, float* panel) {
  constexpr int rows_at_once = width == few_panel_keys ? width : Isa::transposed;
  constexpr int columns = width == few_panel_keys ? Isa::columns_of_four : Isa::transposed;
  if constexpr (width == panel_keys && width == Isa::lanes && Isa::transposes_rows) {
    // Whole lines at a time: halves of them would go through the caches twice.
    if (key_count >= width && head_dim % 4 == 0) {
      for (int d = 0; d < head_dim; d += 4, panel += 4 * width) {
        typename Isa::Vec four[4];
        Isa::columns_of_rows(keys + d, key_stride, four);
        ATTEND_UNROLL
        for (int i = 0; i < 4; ++i) Isa::store(panel + i * width, four[i]);
      }
      return;
    }
  }
  for (int lane = 0; lane < width; lane += rows_at_once, panel += rows_at_once) {
    const float* rows[rows_at_once];
    ATTEND_UNROLL
    for (int i = 0; i < rows_at_once; ++i) rows[i] = opaque(keys + at_most(lane + i, key_count - 1) * key_stride);
    int d = 0;
    for (; head_dim - d >= columns; d += columns) {
      if constexpr (width == few_panel_keys) {
        Isa::transpose_four(rows, d, panel + d * width);
      } else {
        Isa::transpose(rows, d, panel + d * width);
      }
    }
    for (; d < head_dim; ++d) {
      ATTEND_UNROLL
      for (int i = 0; i < rows_at_once; ++i) panel[d * width + i] = rows[i][d];
    }
  }
}

// A panel of four, and zeros for what the last vectors of a tile read behind it: whatever else is there could be subnormal, and
// slow.
constexpr ptrdiff_t few_panel_floats(int head_dim) {
  return few_panel_keys * ptrdiff_t(head_dim) + panel_keys - few_panel_keys;
}
template <class Isa>
void pack_few(const float* keys, ptrdiff_t key_stride, int key_count, int head_dim, float* panel) {
  if (key_count > 0) pack_panel<Isa, few_panel_keys>(keys, key_stride, key_count, head_dim, panel);
  panel += few_panel_keys * ptrdiff_t(head_dim);
  for (int i = 0; i < panel_keys - few_panel_keys; ++i) panel[i] = 0.0f;
}

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
