// Numbers of two bytes or one with Helium: chains of fused multiply-adds, and widening. A load widens the numbers as integers,
// and one instruction makes them floats. The assembler chooses both by the format, so that there is one text for all.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "../numerics/formats.h"
#include "helium_chains.h"

namespace attend {
namespace {

struct HeliumTyped : HeliumChains {
  static constexpr int typed_columns = 16;

  using HeliumChains::chains;
  ATTEND_HOT ATTEND_NOINLINE static void chains(const ChainsOf<Half>& c) { rows<half>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void chains(const ChainsOf<Bfloat>& c) { rows<bfloat>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void chains(const ChainsOf<int8_t>& c) { rows<byte>(c); }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const float* from, int count, float* to) { widen<single>(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Half* from, int count, float* to) { widen<half>(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Bfloat* from, int count, float* to) { widen<bfloat>(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const int8_t* from, int count, float* to) { widen<byte>(from, count, to); }

 private:
  enum Format { single, half, bfloat, byte };

  // 16 numbers a round, then 4. GNU as up to 2.40 writes other registers into "vcvtb.f32.f16 q0, q0" than it says, so this
  // instruction is a number here.
  template <Format format>
  ATTEND_ALWAYS_INLINE static void widen(const void* from, int count, float* to) {
    __asm__ volatile(
        "lsr lr, %[count], #4\n"
        "and %[count], %[count], #15\n"
        "wls lr, lr, 2f\n"
        "1:\n"
        ".irp v, 0, 1, 2, 3\n"
        ".if %c[format] == %c[single]\n"
        "vldrw.u32 q\\v, [%[from]], #16\n"
        ".elseif %c[format] == %c[byte]\n"
        "vldrb.s32 q\\v, [%[from]], #4\n"
        ".else\n"
        "vldrh.u32 q\\v, [%[from]], #8\n"
        ".endif\n"
        ".endr\n"
        ".irp v, 0, 1, 2, 3\n"
        ".if %c[format] == %c[half]\n"
        ".inst.w 0xfe3f0e01 + 0x2002 * \\v\n"  // vcvtb.f32.f16
        ".elseif %c[format] == %c[bfloat]\n"
        "vshl.i32 q\\v, q\\v, #16\n"
        ".elseif %c[format] == %c[byte]\n"
        "vcvt.f32.s32 q\\v, q\\v\n"
        ".endif\n"
        "vstrw.32 q\\v, [%[to]], #16\n"
        ".endr\n"
        "le lr, 1b\n"
        "2:\n"
        "wlstp.32 lr, %[count], 4f\n"
        "3:\n"
        ".if %c[format] == %c[single]\n"
        "vldrw.u32 q0, [%[from]], #16\n"
        ".elseif %c[format] == %c[half]\n"
        "vldrh.u32 q0, [%[from]], #8\n"
        ".inst.w 0xfe3f0e01\n"
        ".elseif %c[format] == %c[bfloat]\n"
        "vldrh.u32 q0, [%[from]], #8\n"
        "vshl.i32 q0, q0, #16\n"
        ".else\n"
        "vldrb.s32 q0, [%[from]], #4\n"
        "vcvt.f32.s32 q0, q0\n"
        ".endif\n"
        "vstrw.32 q0, [%[to]], #16\n"
        "letp lr, 3b\n"
        "4:\n"
        : [from] "+r"(from), [count] "+r"(count), [to] "+r"(to)
        : [format] "i"(int(format)), [single] "i"(int(single)), [half] "i"(int(half)), [bfloat] "i"(int(bfloat)),
          [byte] "i"(int(byte))
        : "lr", "q0", "q1", "q2", "q3", "cc", "memory");
  }

  template <Format format, class Number>
  ATTEND_ALWAYS_INLINE static void rows(const ChainsOf<Number>& c) {
    for (int r = 0; r < c.rows; ++r) {
      row<format>(c.a + r * c.a_stride, c.rows == 1 ? c.a_scale : 1.0f, c.b, ptrdiff_t(sizeof(Number)) * c.b_step, c.steps,
                  c.to[r] + c.column, c.columns, c.adds);
    }
  }

  // One row: 16 columns with their sums in q0-q3, or fewer, 4 at a time and the last ones predicated.
  //   r0-r3 factors   r4 a   r5 b   r6 b_step in bytes   r8 a_scale   r9 steps   r10 to   r11 adds   r12 columns left
  template <Format format>
  ATTEND_ALWAYS_INLINE static void row(const float* a_row, float a_scale, const void* b_first, ptrdiff_t b_step, int step_count,
                                       float* sums, int columns, bool adds) {
    register const float* a __asm__("r4") = a_row;
    register const void* b __asm__("r5") = b_first;
    register ptrdiff_t step __asm__("r6") = b_step;
    register float scale __asm__("r8") = a_scale;
    register int steps __asm__("r9") = step_count;
    register float* to __asm__("r10") = sums;
    register int more __asm__("r11") = adds;
    register int left __asm__("r12") = columns;
    __asm__ volatile(
        "cmp r12, #16\n"
        "bne 6f\n"
        "vmov.i32 q0, #0\n"
        "vmov.i32 q1, #0\n"
        "vmov.i32 q2, #0\n"
        "vmov.i32 q3, #0\n"
        "lsr r0, r9, #2\n"
        "wls lr, r0, 2f\n"
        "1:\n"
        "vldrw.u32 q4, [r4], #16\n"
        "vmul.f32 q4, q4, r8\n"
        "vmov r0, r1, d8\n"
        "vmov r2, r3, d9\n"
        ".irp factor, r0, r1, r2, r3\n"
        ".irp v, 4, 5, 6, 7\n"
        ".if %c[format] == %c[byte]\n"
        "vldrb.s32 q\\v, [r5, #4 * (\\v - 4)]\n"
        ".else\n"
        "vldrh.u32 q\\v, [r5, #8 * (\\v - 4)]\n"
        ".endif\n"
        ".endr\n"
        "add r5, r5, r6\n"
        ".irp v, 4, 5, 6, 7\n"
        ".if %c[format] == %c[half]\n"
        ".inst.w 0xfe3f0e01 + 0x2002 * \\v\n"  // vcvtb.f32.f16
        ".elseif %c[format] == %c[bfloat]\n"
        "vshl.i32 q\\v, q\\v, #16\n"
        ".else\n"
        "vcvt.f32.s32 q\\v, q\\v\n"
        ".endif\n"
        ".endr\n"
        "vfma.f32 q0, q4, \\factor\n"
        "vfma.f32 q1, q5, \\factor\n"
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
        ".irp v, 4, 5, 6, 7\n"
        ".if %c[format] == %c[byte]\n"
        "vldrb.s32 q\\v, [r5, #4 * (\\v - 4)]\n"
        "vcvt.f32.s32 q\\v, q\\v\n"
        ".else\n"
        "vldrh.u32 q\\v, [r5, #8 * (\\v - 4)]\n"
        ".if %c[format] == %c[half]\n"
        ".inst.w 0xfe3f0e01 + 0x2002 * \\v\n"
        ".else\n"
        "vshl.i32 q\\v, q\\v, #16\n"
        ".endif\n"
        ".endif\n"
        ".endr\n"
        "add r5, r5, r6\n"
        "vfma.f32 q0, q4, r0\n"
        "vfma.f32 q1, q5, r0\n"
        "vfma.f32 q2, q6, r0\n"
        "vfma.f32 q3, q7, r0\n"
        "le lr, 3b\n"
        "4:\n"
        "cmp r11, #0\n"
        "beq 5f\n"
        "vldrw.u32 q4, [r10, #0]\n"
        "vldrw.u32 q5, [r10, #16]\n"
        "vldrw.u32 q6, [r10, #32]\n"
        "vldrw.u32 q7, [r10, #48]\n"
        "vadd.f32 q0, q0, q4\n"
        "vadd.f32 q1, q1, q5\n"
        "vadd.f32 q2, q2, q6\n"
        "vadd.f32 q3, q3, q7\n"
        "5:\n"
        "vstrw.32 q0, [r10, #0]\n"
        "vstrw.32 q1, [r10, #16]\n"
        "vstrw.32 q2, [r10, #32]\n"
        "vstrw.32 q3, [r10, #48]\n"
        "b 12f\n"
        "6:\n"
        "vctp.32 r12\n"
        "vmov.i32 q0, #0\n"
        "lsr r0, r9, #2\n"
        "wls lr, r0, 8f\n"
        "7:\n"
        "vldrw.u32 q4, [r4], #16\n"
        "vmul.f32 q4, q4, r8\n"
        "vmov r0, r1, d8\n"
        "vmov r2, r3, d9\n"
        ".irp factor, r0, r1, r2, r3\n"
        "vpst\n"
        ".if %c[format] == %c[byte]\n"
        "vldrbt.s32 q4, [r5]\n"
        "vcvt.f32.s32 q4, q4\n"
        ".else\n"
        "vldrht.u32 q4, [r5]\n"
        ".if %c[format] == %c[half]\n"
        ".inst.w 0xfe3f0e01 + 0x2002 * 4\n"
        ".else\n"
        "vshl.i32 q4, q4, #16\n"
        ".endif\n"
        ".endif\n"
        "add r5, r5, r6\n"
        "vfma.f32 q0, q4, \\factor\n"
        ".endr\n"
        "le lr, 7b\n"
        "8:\n"
        "and r0, r9, #3\n"
        "wls lr, r0, 10f\n"
        "9:\n"
        "ldr r0, [r4], #4\n"
        "vdup.32 q5, r0\n"
        "vmul.f32 q5, q5, r8\n"
        "vpst\n"
        ".if %c[format] == %c[byte]\n"
        "vldrbt.s32 q4, [r5]\n"
        "vcvt.f32.s32 q4, q4\n"
        ".else\n"
        "vldrht.u32 q4, [r5]\n"
        ".if %c[format] == %c[half]\n"
        ".inst.w 0xfe3f0e01 + 0x2002 * 4\n"
        ".else\n"
        "vshl.i32 q4, q4, #16\n"
        ".endif\n"
        ".endif\n"
        "add r5, r5, r6\n"
        "vfma.f32 q0, q4, q5\n"
        "le lr, 9b\n"
        "10:\n"
        "cmp r11, #0\n"
        "beq 11f\n"
        "vpst\n"
        "vldrwt.u32 q4, [r10]\n"
        "vadd.f32 q0, q0, q4\n"
        "11:\n"
        "vpst\n"
        "vstrwt.32 q0, [r10], #16\n"
        "sub r4, r4, r9, lsl #2\n"
        "mls r5, r6, r9, r5\n"
        "add r5, r5, #4 * %c[bytes]\n"
        "subs r12, r12, #4\n"
        "bgt 6b\n"
        "12:\n"
        : "+r"(a), "+r"(b), "+r"(to), "+r"(left)
        : "r"(step), "r"(scale), "r"(steps), "r"(more), [bytes] "i"(format == byte ? 1 : 2), [format] "i"(int(format)),
          [half] "i"(int(half)), [bfloat] "i"(int(bfloat)), [byte] "i"(int(byte))
        : "r0", "r1", "r2", "r3", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }
};

}  // namespace
}  // namespace attend
