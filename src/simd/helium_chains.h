// Chains of fused multiply-adds with Helium, in assembly: compilers take more registers for addresses than there are, and load
// factors one by one. Registers are named in the code; r7 is left to frame pointers.
#pragma once

#include <stddef.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "chains.h"
#include "scalar.h"

namespace attend {
namespace {

struct HeliumChains {
  static constexpr int tile_rows = 4;
  static constexpr int columns(int /*rows*/, bool /*apart*/) { return 16; }

  static void panel_chains(const Chains& c) { chains(c); }  // where b's columns lie side by side

  // Chains of one row that go on from the sums in to[0], which take the result. Columns of b lie side by side.
  ATTEND_HOT static void continue_chains(const Chains& c) { c.columns == 16 ? continue_row(c) : Scalar::continue_chains(c); }

  ATTEND_HOT static void chains(const Chains& c) {
    if (c.rows == 1) {
      row(c);
    } else {
      tile(c);
    }
  }

 private:
  struct Tile {
    const float* a[tile_rows];
    float* to[tile_rows];  // the assembly is given the address of this
    int fours, kind;       // rounds of the loop of this kind, 4 steps each
    int adds;
    ptrdiff_t next;  // from where that loop leaves b to the next 4 columns, in bytes
    int ones;        // steps left over
    ptrdiff_t stride;
  };
  static constexpr int panel = 0, together = 1, apart = 2;
  static constexpr size_t offset(size_t member) { return member - offsetof(Tile, to); }

  // 4 rows and 4 columns at a time: the sums in q0-q3, and 4 steps of the columns in q4-q7, so that one instruction loads a
  // row's factors for all four. Where steps lie side by side, q7 is for addresses, and two steps go together.
  //   r0-r3 rows of a   r4 r5 r6 r8 factors   r9 b   r10 columns left   r11 b_step in bytes   r12 the tile
  ATTEND_HOT ATTEND_NOINLINE static void tile(const Chains& c) {
    Tile t;
    ATTEND_UNROLL
    for (int r = 0; r < tile_rows; ++r) {
      t.a[r] = c.a + r * c.a_stride;
      t.to[r] = c.to[r] + c.column;
    }
    t.adds = c.adds;
    t.stride = 4 * c.b_stride;
    t.fours = int(unsigned(c.steps) / 4);
    t.ones = c.steps & 3;
    t.kind = c.b_stride != 1 ? apart : c.b_step == panel_keys ? panel : together;
    t.next = t.kind == apart ? 4 * t.stride : 16 * (1 - t.fours * c.b_step);
    const int count = c.columns;
    int rest = t.kind == apart ? 0 : count & 3;
    register const float* b __asm__("r9") = c.b;
    register int left __asm__("r10") = count - rest;
    register ptrdiff_t step __asm__("r11") = 4 * c.b_step;
    register float** to __asm__("r12") = t.to;
    for (;;) {
      if (left == 0) {  // columns that do not fill a vector, without reading what lies past them
        t.fours = 0;
        t.ones = c.steps;
        left = rest;
        rest = 0;
      }
      __asm__ volatile(
          "1:\n"
          "ldmdb r12, {r0, r1, r2, r3}\n"
          "ldrd r4, r5, [r12, %[fours]]\n"
          "vmov.i32 q0, #0\n"
          "vmov.i32 q1, #0\n"
          "vmov.i32 q2, #0\n"
          "vmov.i32 q3, #0\n"
          "cbnz r5, 3f\n"
          "wls lr, r4, 5f\n"
          "2:\n"
          "ldm r0!, {r4, r5, r6, r8}\n"
          "vldrw.u32 q4, [r9], #64\n"
          "vldrw.u32 q5, [r9], #64\n"
          "vfma.f32 q0, q4, r4\n"
          "vldrw.u32 q6, [r9], #64\n"
          "vfma.f32 q0, q5, r5\n"
          "vldrw.u32 q7, [r9], #64\n"
          "vfma.f32 q0, q6, r6\n"
          "vfma.f32 q0, q7, r8\n"
          ".irp row, 1, 2, 3\n"
          "ldm r\\row!, {r4, r5, r6, r8}\n"
          "vfma.f32 q\\row, q4, r4\n"
          "vfma.f32 q\\row, q5, r5\n"
          "vfma.f32 q\\row, q6, r6\n"
          "vfma.f32 q\\row, q7, r8\n"
          ".endr\n"
          "le lr, 2b\n"
          "b 5f\n"
          "3:\n"
          "cmp r5, %[apart]\n"
          "beq 6f\n"
          "wls lr, r4, 5f\n"
          "4:\n"
          "ldm r0!, {r4, r5, r6, r8}\n"
          "vldrw.u32 q4, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q4, r4\n"
          "vldrw.u32 q5, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q5, r5\n"
          "vldrw.u32 q6, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q6, r6\n"
          "vldrw.u32 q7, [r9]\n"
          "add r9, r9, r11\n"
          "vfma.f32 q0, q7, r8\n"
          ".irp row, 1, 2, 3\n"
          "ldm r\\row!, {r4, r5, r6, r8}\n"
          "vfma.f32 q\\row, q4, r4\n"
          "vfma.f32 q\\row, q5, r5\n"
          "vfma.f32 q\\row, q6, r6\n"
          "vfma.f32 q\\row, q7, r8\n"
          ".endr\n"
          "le lr, 4b\n"
          "5:\n"
          "ldr r6, [r12, %[ones]]\n"
          "cmp r6, #0\n"
          "beq 10f\n"
          "movs r4, #0\n"
          "6:\n"
          // q7: one step before the next one of each column. Columns that do not exist are the last one that does.
          "movs r6, #0\n"
          "vidup.u32 q7, r6, #1\n"
          "subs r6, r10, #1\n"
          "vdup.32 q6, r6\n"
          "ldr r6, [r12, %[stride]]\n"
          "vmin.u32 q7, q7, q6\n"
          "vmul.i32 q7, q7, r6\n"
          "sub r6, r9, r11\n"
          "vadd.i32 q7, q7, r6\n"
          "wls lr, r4, 8f\n"
          "7:\n"
          ".rept 2\n"
          "vldrw.u32 q4, [q7, #4]\n"
          "vldrw.u32 q5, [q7, #8]!\n"
          ".irp row, 0, 1, 2, 3\n"
          "ldrd r4, r5, [r\\row], #8\n"
          "vfma.f32 q\\row, q4, r4\n"
          "vfma.f32 q\\row, q5, r5\n"
          ".endr\n"
          ".endr\n"
          "le lr, 7b\n"
          "8:\n"
          "ldr r4, [r12, %[ones]]\n"
          "wls lr, r4, 10f\n"
          "9:\n"
          "vadd.i32 q7, q7, r11\n"
          "vldrw.u32 q4, [q7]\n"
          ".irp row, 0, 1, 2, 3\n"
          "ldr r4, [r\\row], #4\n"
          "vfma.f32 q\\row, q4, r4\n"
          ".endr\n"
          "le lr, 9b\n"
          "10:\n"
          "ldm r12, {r0, r1, r2, r3}\n"
          "ldrd r4, r5, [r12, %[adds]]\n"
          "vctp.32 r10\n"
          "cbz r4, 11f\n"
          "vpstttt\n"
          "vldrwt.u32 q4, [r0]\n"
          "vldrwt.u32 q5, [r1]\n"
          "vldrwt.u32 q6, [r2]\n"
          "vldrwt.u32 q7, [r3]\n"
          "vadd.f32 q0, q0, q4\n"
          "vadd.f32 q1, q1, q5\n"
          "vadd.f32 q2, q2, q6\n"
          "vadd.f32 q3, q3, q7\n"
          "11:\n"
          "vpstttt\n"
          "vstrwt.32 q0, [r0], #16\n"
          "vstrwt.32 q1, [r1], #16\n"
          "vstrwt.32 q2, [r2], #16\n"
          "vstrwt.32 q3, [r3], #16\n"
          "stm r12, {r0, r1, r2, r3}\n"
          "add r9, r9, r5\n"
          "subs r10, r10, #4\n"
          "bgt 1b\n"
          : "+r"(b), "+r"(left)
          : "r"(step), "r"(to), [fours] "i"(offset(offsetof(Tile, fours))), [adds] "i"(offset(offsetof(Tile, adds))),
            [ones] "i"(offset(offsetof(Tile, ones))), [stride] "i"(offset(offsetof(Tile, stride))), [apart] "i"(apart)
          : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc",
            "memory");
      if (rest == 0) break;
    }
  }

  // One row: 16 columns with their sums in q0-q3 where they lie side by side, else 4 at a time.
  //   r0-r3 factors   r4 a   r5 b   r6 b_step in bytes   r8 a_scale   r9 steps   r10 to   r11 more   r12 columns left
  ATTEND_HOT ATTEND_NOINLINE static void row(const Chains& c) { row_of<false>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void continue_row(const Chains& c) { row_of<true>(c); }  // of 16 columns
  template <bool goes_on>
  ATTEND_ALWAYS_INLINE static void row_of(const Chains& c) {
    const struct {
      ptrdiff_t stride;
      int adds;
    } numbers = {4 * c.b_stride, c.adds};
    register const float* a __asm__("r4") = c.a;
    register const float* b __asm__("r5") = c.b;
    register ptrdiff_t step __asm__("r6") = 4 * c.b_step;
    register float scale __asm__("r8") = c.a_scale;
    register int steps __asm__("r9") = c.steps;
    register float* to __asm__("r10") = c.to[0] + c.column;
    register const void* number __asm__("r11") = &numbers;
    register int left __asm__("r12") = c.columns;
    if (goes_on || (left == 16 && c.b_stride == 1)) {
      __asm__ volatile(
          ".if %c[goes_on]\n"
          "vldrw.u32 q0, [r10, #0]\n"
          "vldrw.u32 q1, [r10, #16]\n"
          "vldrw.u32 q2, [r10, #32]\n"
          "vldrw.u32 q3, [r10, #48]\n"
          ".else\n"
          "vmov.i32 q0, #0\n"
          "vmov.i32 q1, #0\n"
          "vmov.i32 q2, #0\n"
          "vmov.i32 q3, #0\n"
          ".endif\n"
          "lsr r0, r9, #2\n"
          "wls lr, r0, 2f\n"
          "1:\n"
          "vldrw.u32 q4, [r4], #16\n"
          "vmul.f32 q4, q4, r8\n"
          "vmov r0, r1, d8\n"
          "vmov r2, r3, d9\n"
          ".irp factor, r0, r1, r2, r3\n"
          "vldrw.u32 q4, [r5]\n"
          "vldrw.u32 q5, [r5, #16]\n"
          "vfma.f32 q0, q4, \\factor\n"
          "vldrw.u32 q6, [r5, #32]\n"
          "vfma.f32 q1, q5, \\factor\n"
          "vldrw.u32 q7, [r5, #48]\n"
          "add r5, r5, r6\n"
          "vfma.f32 q2, q6, \\factor\n"
          "vfma.f32 q3, q7, \\factor\n"
          ".endr\n"
          "le lr, 1b\n"
          "2:\n"
          "and r0, r9, #3\n"
          "wls lr, r0, 4f\n"
          "3:\n"
          "ldr r0, [r4], #4\n"
          "vdup.32 q4, r0\n"
          "vmul.f32 q4, q4, r8\n"
          "vmov r0, s16\n"
          "vldrw.u32 q4, [r5]\n"
          "vldrw.u32 q5, [r5, #16]\n"
          "vfma.f32 q0, q4, r0\n"
          "vldrw.u32 q6, [r5, #32]\n"
          "vfma.f32 q1, q5, r0\n"
          "vldrw.u32 q7, [r5, #48]\n"
          "add r5, r5, r6\n"
          "vfma.f32 q2, q6, r0\n"
          "vfma.f32 q3, q7, r0\n"
          "le lr, 3b\n"
          "4:\n"
          ".if !%c[goes_on]\n"
          "ldr r0, [r11, #4]\n"
          "cbz r0, 5f\n"
          "vldrw.u32 q4, [r10, #0]\n"
          "vldrw.u32 q5, [r10, #16]\n"
          "vldrw.u32 q6, [r10, #32]\n"
          "vldrw.u32 q7, [r10, #48]\n"
          "vadd.f32 q0, q0, q4\n"
          "vadd.f32 q1, q1, q5\n"
          "vadd.f32 q2, q2, q6\n"
          "vadd.f32 q3, q3, q7\n"
          ".endif\n"
          "5:\n"
          "vstrw.32 q0, [r10, #0]\n"
          "vstrw.32 q1, [r10, #16]\n"
          "vstrw.32 q2, [r10, #32]\n"
          "vstrw.32 q3, [r10, #48]\n"
          : "+r"(a), "+r"(b)
          : "r"(step), "r"(scale), "r"(steps), "r"(to), "r"(number), [goes_on] "i"(int(goes_on))
          : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
      return;
    }
    __asm__ volatile(
        // q7: as in a tile
        "1:\n"
        "movs r0, #0\n"
        "vmov.i32 q0, #0\n"
        "vidup.u32 q7, r0, #1\n"
        "subs r0, r12, #1\n"
        "vdup.32 q6, r0\n"
        "ldr r0, [r11]\n"
        "vmin.u32 q7, q7, q6\n"
        "vmul.i32 q7, q7, r0\n"
        "sub r2, r5, r6\n"
        "add r5, r5, r0, lsl #2\n"
        "vadd.i32 q7, q7, r2\n"
        "lsr r0, r9, #2\n"
        "wls lr, r0, 3f\n"
        "2:\n"
        "vldrw.u32 q4, [r4], #16\n"
        "vmul.f32 q4, q4, r8\n"
        "vmov r0, r1, d8\n"
        "vmov r2, r3, d9\n"
        ".irp factor, r0, r1, r2, r3\n"
        "vadd.i32 q7, q7, r6\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, \\factor\n"
        ".endr\n"
        "le lr, 2b\n"
        "3:\n"
        "and r0, r9, #3\n"
        "wls lr, r0, 5f\n"
        "4:\n"
        "ldr r0, [r4], #4\n"
        "vdup.32 q4, r0\n"
        "vmul.f32 q4, q4, r8\n"
        "vmov r0, s16\n"
        "vadd.i32 q7, q7, r6\n"
        "vldrw.u32 q4, [q7]\n"
        "vfma.f32 q0, q4, r0\n"
        "le lr, 4b\n"
        "5:\n"
        "ldr r0, [r11, #4]\n"
        "vctp.32 r12\n"
        "cbz r0, 6f\n"
        "vpst\n"
        "vldrwt.u32 q4, [r10]\n"
        "vadd.f32 q0, q0, q4\n"
        "6:\n"
        "vpst\n"
        "vstrwt.32 q0, [r10], #16\n"
        "sub r4, r4, r9, lsl #2\n"
        "subs r12, r12, #4\n"
        "bgt 1b\n"
        : "+r"(a), "+r"(b), "+r"(to), "+r"(left)
        : "r"(step), "r"(scale), "r"(steps), "r"(number)
        : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }
};

}  // namespace
}  // namespace attend
