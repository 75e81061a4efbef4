// The instructions of AMX. A tile is a register of up to 16 rows of up to 64 bytes; a product of two adds, to row r and column
// c of a third, the products of row r of the first and of column c of the second, whose rows are quads of bytes side by side.
//
// In assembly, because GCC's intrinsics do not tell which memory they read, and Clang's want all shapes with each of them.
#pragma once

#include "../../numerics/float_rules.h"
#include "../tile_shapes.h"

namespace attend::ATTEND_ISA {
namespace {

struct AmxTiles {
  // All tiles are zeros then. What has shaped them releases them before it returns: a thread whose tiles hold something has 8
  // KB more to save whenever another one takes its place.
  static ATTEND_ALWAYS_INLINE void shape(const TileShapes& shapes) { __asm__ volatile("ldtilecfg %0" : : "m"(shapes)); }
  static ATTEND_ALWAYS_INLINE void release() { __asm__ volatile("tilerelease" : : : "memory"); }

  template <int tile>
  static ATTEND_ALWAYS_INLINE void clear() {
    __asm__ volatile("tilezero {%%tmm%c0|tmm%c0}" : : "n"(tile));
  }
  // Rows that lie `stride` bytes apart.
  template <int tile>
  static ATTEND_ALWAYS_INLINE void load(const void* from, ptrdiff_t stride) {
    __asm__ volatile("tileloadd {(%0,%1,1), %%tmm%c2|tmm%c2, [%0+%1*1]}" : : "r"(from), "r"(stride), "n"(tile) : "memory");
  }
  template <int tile>
  static ATTEND_ALWAYS_INLINE void store(void* to, ptrdiff_t stride) {
    __asm__ volatile("tilestored {%%tmm%c2, (%0,%1,1)|[%0+%1*1], tmm%c2}" : : "r"(to), "r"(stride), "n"(tile) : "memory");
  }

  // sums += a * b, of bytes with signs; and of bytes of a without one.
  template <int sums, int a, int b>
  static ATTEND_ALWAYS_INLINE void add_signed() {
    __asm__ volatile("tdpbssd {%%tmm%c2, %%tmm%c1, %%tmm%c0|tmm%c0, tmm%c1, tmm%c2}" : : "n"(sums), "n"(a), "n"(b));
  }
  template <int sums, int a, int b>
  static ATTEND_ALWAYS_INLINE void add_unsigned() {
    __asm__ volatile("tdpbusd {%%tmm%c2, %%tmm%c1, %%tmm%c0|tmm%c0, tmm%c1, tmm%c2}" : : "n"(sums), "n"(a), "n"(b));
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
