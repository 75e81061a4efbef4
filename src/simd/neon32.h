// What 32-bit Arm with NEON and VFPv4 has: 16 registers, and some instructions that compilers make no use of.
#pragma once

#include <arm_neon.h>
#include <stdint.h>

#include "../numerics/formats.h"

namespace attend {
namespace {

struct Neon32 {
  using Vec = float32x4_t;

  // Tiles: 4 x 2 sums, 2 vectors and a query element leave 5 of 16 registers.
  static constexpr int tile_rows = 4;
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left > 3 ? 4 : left == 3 ? 2 : left; }  // 4, 2, 1
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows <= 2 ? 4 : 2; }
  // of other formats
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
  // weighed side by side
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) { return kernel_rows(left); }
  static constexpr bool keeps_coefficients = false;

  static constexpr int lane_factors = 1;

  // Every processor with VFPv4 has the conversion. The intrinsic function needs a type that GCC has only with a flag.
  static Vec widened(uint16x4_t halves) {
    Vec wide;
    __asm__("vcvt.f32.f16 %q0, %P1" : "=w"(wide) : "w"(halves));
    return wide;
  }

  // All bits of a lane where it holds. GCC takes the lanes of the intrinsic functions apart and compares them one by one, because
  // the vector instructions flush subnormal numbers.
  static uint32x4_t above(Vec a, Vec b) {
    uint32x4_t is;
    __asm__("vcgt.f32 %q0, %q1, %q2" : "=w"(is) : "w"(a), "w"(b));
    return is;
  }
  static uint32x4_t equal(Vec a, Vec b) {
    uint32x4_t is;
    __asm__("vceq.f32 %q0, %q1, %q2" : "=w"(is) : "w"(a), "w"(b));
    return is;
  }

  static Vec higher(Vec a, Vec b) { return vbslq_f32(above(b, a), b, a); }
};

}  // namespace
}  // namespace attend
