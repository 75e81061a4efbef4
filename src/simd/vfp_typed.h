// Numbers of two bytes or one on Cortex-M4F, M7 and M33: chains of fused multiply-adds, and widening. Halves are loaded by
// words, two in each, and converted by an instruction a number. Bfloats are shifted in general registers; bytes are loaded
// there with their sign. Both move on two at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "../numerics/formats.h"
#include "scalar.h"

namespace attend {
namespace {

struct VfpTyped : Scalar {
  static float widen(float number) { return number; }
  static float widen(Half number) {
    float wide = bits_to<float>(uint32_t(number.bits));
    __asm__("vcvtb.f32.f16 %0, %0" : "+t"(wide));
    return wide;
  }
  static float widen(Bfloat number) { return attend::widen(number); }
  static float widen(int8_t number) { return attend::widen(number); }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const float* from, int count, float* to) {
    for (; count >= 8; count -= 8) {
      __asm__ volatile(
          "vldmia %[from]!, {s0-s7}\n"
          "vstmia %[to]!, {s0-s7}\n"
          : [from] "+r"(from), [to] "+r"(to)
          :
          : "d0", "d1", "d2", "d3", "memory");
    }
    for (; count > 0; --count) *to++ = *from++;
  }

  // row[i] *= by[i]
  ATTEND_HOT ATTEND_NOINLINE static void multiply_rows(float* row, const float* by, int count) {
    for (; count >= 8; count -= 8) {
      __asm__ volatile(
          "vldmia %[row], {s0-s7}\n"
          "vldmia %[by]!, {s8-s15}\n"
          "vmul.f32 s0, s0, s8\n"
          "vmul.f32 s1, s1, s9\n"
          "vmul.f32 s2, s2, s10\n"
          "vmul.f32 s3, s3, s11\n"
          "vmul.f32 s4, s4, s12\n"
          "vmul.f32 s5, s5, s13\n"
          "vmul.f32 s6, s6, s14\n"
          "vmul.f32 s7, s7, s15\n"
          "vstmia %[row]!, {s0-s7}\n"
          : [row] "+r"(row), [by] "+r"(by)
          :
          : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "memory");
    }
    for (; count > 0; --count, ++row) *row *= *by++;
  }

  // 8 numbers a round, and those before the first whole word and behind the last round one by one.
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Half* from, int count, float* to) {
    if (!is_word(from) && count > 0) {
      *to++ = widen(*from++);
      --count;
    }
    unsigned rounds = unsigned(count) / 8;
    if (rounds > 0) {
      __asm__ volatile(
          "1:\n"
          "vldmia %[from]!, {s8-s11}\n"
          "vcvtb.f32.f16 s0, s8\n"
          "vcvtt.f32.f16 s1, s8\n"
          "vcvtb.f32.f16 s2, s9\n"
          "vcvtt.f32.f16 s3, s9\n"
          "vcvtb.f32.f16 s4, s10\n"
          "vcvtt.f32.f16 s5, s10\n"
          "vcvtb.f32.f16 s6, s11\n"
          "vcvtt.f32.f16 s7, s11\n"
          "subs %[rounds], %[rounds], #1\n"
          "vstmia %[to]!, {s0-s7}\n"
          "bne 1b\n"
          : [from] "+r"(from), [to] "+r"(to), [rounds] "+r"(rounds)
          :
          : "d0", "d1", "d2", "d3", "d4", "d5", "cc", "memory");
    }
    for (count &= 7; count > 0; --count) *to++ = widen(*from++);
  }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const Bfloat* from, int count, float* to) {
    if (!is_word(from) && count > 0) {
      *to++ = widen(*from++);
      --count;
    }
    if (count >= 8) {
      // Registers by name, because without optimisation compilers do not find enough.
      register const Bfloat* words __asm__("r10") = from;
      register float* floats __asm__("r11") = to;
      register unsigned rounds __asm__("r12") = unsigned(count) / 8;
      __asm__ volatile(
          "1:\n"
          "ldmia %[words]!, {r1, r3, r5, r8}\n"
          "lsl r0, r1, #16\n"
          "bfc r1, #0, #16\n"
          "lsl r2, r3, #16\n"
          "bfc r3, #0, #16\n"
          "lsl r4, r5, #16\n"
          "bfc r5, #0, #16\n"
          "lsl r6, r8, #16\n"
          "bfc r8, #0, #16\n"
          "subs %[rounds], %[rounds], #1\n"
          "stmia %[floats]!, {r0, r1, r2, r3, r4, r5, r6, r8}\n"
          "bne 1b\n"
          : [words] "+r"(words), [floats] "+r"(floats), [rounds] "+r"(rounds)
          :
          : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "cc", "memory");
      from = words;
      to = floats;
    }
    for (count &= 7; count > 0; --count) *to++ = widen(*from++);
  }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const int8_t* from, int count, float* to) {
    unsigned rounds = unsigned(count) / 8;
    if (rounds > 0) {
      __asm__ volatile(
          "1:\n"
          "ldrsb r0, [%[from]], #8\n"
          "ldrsb r1, [%[from], #-7]\n"
          "ldrsb r2, [%[from], #-6]\n"
          "ldrsb r3, [%[from], #-5]\n"
          "vmov s0, s1, r0, r1\n"
          "vmov s2, s3, r2, r3\n"
          "ldrsb r0, [%[from], #-4]\n"
          "ldrsb r1, [%[from], #-3]\n"
          "ldrsb r2, [%[from], #-2]\n"
          "ldrsb r3, [%[from], #-1]\n"
          "vmov s4, s5, r0, r1\n"
          "vmov s6, s7, r2, r3\n"
          "vcvt.f32.s32 s0, s0\n"
          "vcvt.f32.s32 s1, s1\n"
          "vcvt.f32.s32 s2, s2\n"
          "vcvt.f32.s32 s3, s3\n"
          "vcvt.f32.s32 s4, s4\n"
          "vcvt.f32.s32 s5, s5\n"
          "vcvt.f32.s32 s6, s6\n"
          "vcvt.f32.s32 s7, s7\n"
          "subs %[rounds], %[rounds], #1\n"
          "vstmia %[to]!, {s0-s7}\n"
          "bne 1b\n"
          : [from] "+r"(from), [to] "+r"(to), [rounds] "+r"(rounds)
          :
          : "r0", "r1", "r2", "r3", "d0", "d1", "d2", "d3", "cc", "memory");
    }
    for (count &= 7; count > 0; --count) *to++ = widen(*from++);
  }

  ATTEND_HOT static void chains(const ChainsOf<Half>& c) { c.columns == 8 && has_words(c) ? rows_half(c) : rest(c); }
  ATTEND_HOT static void chains(const ChainsOf<Bfloat>& c) { c.columns == 8 && has_words(c) ? rows_bfloat(c) : rest(c); }
  ATTEND_HOT static void chains(const ChainsOf<int8_t>& c) { c.columns == 8 ? rows_int8(c) : rest(c); }

 private:
  static bool is_word(const void* address) { return reinterpret_cast<uintptr_t>(address) % 4 == 0; }

  // Whether 8 columns of each step begin at a word.
  template <class Number>
  static bool has_words(const ChainsOf<Number>& c) {
    return is_word(c.b) && c.b_step % 2 == 0;
  }

  template <class Number>
  ATTEND_NOINLINE static void rest(const ChainsOf<Number>& c) {
    one_by_one<VfpTyped>(c);
  }

  // Not templates, because GCC ignores sections of these.
  ATTEND_HOT ATTEND_NOINLINE static void rows_half(const ChainsOf<Half>& c) { rows<half>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void rows_bfloat(const ChainsOf<Bfloat>& c) { rows<bfloat>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void rows_int8(const ChainsOf<int8_t>& c) { rows<byte>(c); }

  // 1 row x 8 columns: 8 sums, 8 numbers of b and a factor. The assembler chooses by the format how these become floats.
  enum Format { half, bfloat, byte };
  template <Format format, class Number>
  ATTEND_ALWAYS_INLINE static void rows(const ChainsOf<Number>& c) {
    const float scale = c.rows == 1 ? c.a_scale : 1.0f;
    for (int r = 0; r < c.rows; ++r) {
      register const float* a __asm__("r5") = c.a + r * c.a_stride;
      register const Number* b __asm__("r6") = c.b;
      register int steps __asm__("r8") = c.steps;
      register ptrdiff_t b_step __asm__("r10") = ptrdiff_t(sizeof(Number)) * c.b_step;
      register float* to __asm__("r11") = c.to[r] + c.column;
      register int adds __asm__("r12") = c.adds;
      __asm__ volatile(
          "movs r0, #0\n"
          "vmov d0, r0, r0\n"
          "vmov d1, r0, r0\n"
          "vmov d2, r0, r0\n"
          "vmov d3, r0, r0\n"
          "1:\n"
          ".if %c[format] == %c[half]\n"
          "vldmia %[b], {s17-s20}\n"
          "vldmia %[a]!, {s16}\n"
          "add %[b], %[b], %[b_step]\n"
          "vcvtb.f32.f16 s8, s17\n"
          "vcvtt.f32.f16 s9, s17\n"
          "vcvtb.f32.f16 s10, s18\n"
          "vcvtt.f32.f16 s11, s18\n"
          "vcvtb.f32.f16 s12, s19\n"
          "vcvtt.f32.f16 s13, s19\n"
          "vcvtb.f32.f16 s14, s20\n"
          "vcvtt.f32.f16 s15, s20\n"
          ".elseif %c[format] == %c[bfloat]\n"
          "ldmia %[b], {r0, r1, r2, r3}\n"
          "vldmia %[a]!, {s16}\n"
          "add %[b], %[b], %[b_step]\n"
          "lsl r4, r0, #16\n"
          "bfc r0, #0, #16\n"
          "vmov s8, s9, r4, r0\n"
          "lsl r4, r1, #16\n"
          "bfc r1, #0, #16\n"
          "vmov s10, s11, r4, r1\n"
          "lsl r4, r2, #16\n"
          "bfc r2, #0, #16\n"
          "vmov s12, s13, r4, r2\n"
          "lsl r4, r3, #16\n"
          "bfc r3, #0, #16\n"
          "vmov s14, s15, r4, r3\n"
          ".else\n"
          "ldrsb r0, [%[b]]\n"
          "ldrsb r1, [%[b], #1]\n"
          "ldrsb r2, [%[b], #2]\n"
          "ldrsb r3, [%[b], #3]\n"
          "vmov s8, s9, r0, r1\n"
          "vmov s10, s11, r2, r3\n"
          "ldrsb r0, [%[b], #4]\n"
          "ldrsb r1, [%[b], #5]\n"
          "ldrsb r2, [%[b], #6]\n"
          "ldrsb r3, [%[b], #7]\n"
          "vmov s12, s13, r0, r1\n"
          "vmov s14, s15, r2, r3\n"
          "vldmia %[a]!, {s16}\n"
          "add %[b], %[b], %[b_step]\n"
          "vcvt.f32.s32 s8, s8\n"
          "vcvt.f32.s32 s9, s9\n"
          "vcvt.f32.s32 s10, s10\n"
          "vcvt.f32.s32 s11, s11\n"
          "vcvt.f32.s32 s12, s12\n"
          "vcvt.f32.s32 s13, s13\n"
          "vcvt.f32.s32 s14, s14\n"
          "vcvt.f32.s32 s15, s15\n"
          ".endif\n"
          "vmul.f32 s16, s16, %[scale]\n"
          "subs %[steps], %[steps], #1\n"
          "vfma.f32 s0, s16, s8\n"
          "vfma.f32 s1, s16, s9\n"
          "vfma.f32 s2, s16, s10\n"
          "vfma.f32 s3, s16, s11\n"
          "vfma.f32 s4, s16, s12\n"
          "vfma.f32 s5, s16, s13\n"
          "vfma.f32 s6, s16, s14\n"
          "vfma.f32 s7, s16, s15\n"
          "bne 1b\n"
          "cmp %[adds], #0\n"
          "beq 2f\n"
          "vldmia %[to], {s8-s15}\n"
          "vadd.f32 s0, s0, s8\n"
          "vadd.f32 s1, s1, s9\n"
          "vadd.f32 s2, s2, s10\n"
          "vadd.f32 s3, s3, s11\n"
          "vadd.f32 s4, s4, s12\n"
          "vadd.f32 s5, s5, s13\n"
          "vadd.f32 s6, s6, s14\n"
          "vadd.f32 s7, s7, s15\n"
          "2:\n"
          "vstmia %[to], {s0-s7}\n"
          : [a] "+r"(a), [b] "+r"(b), [steps] "+r"(steps)
          : [b_step] "r"(b_step), [to] "r"(to), [adds] "r"(adds), [scale] "t"(scale), [format] "i"(int(format)),
            [half] "i"(int(half)), [bfloat] "i"(int(bfloat))
          : "r0", "r1", "r2", "r3", "r4", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "cc", "memory");
    }
  }
};

}  // namespace
}  // namespace attend
