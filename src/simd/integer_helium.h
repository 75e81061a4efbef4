// The kernels of integer attention for Helium, with or without its floats: Cortex-M55 and M85. Scores are sums over 16 lanes of
// 8 bits, softmax and values have 4 lanes of 32 bits. Weights lie where scores did, each in a word, as VMLA takes its factor.
// In assembly r7 is saved, because compilers may keep the frame pointer in it.
#pragma once

#include "../../include/attend/config.h"
#include "../numerics/float_rules.h"
#include "integer_scalar.h"

namespace attend {
namespace {

struct IntegerHelium {
  static constexpr int tile_rows = 2;
  static constexpr bool packs = false;

  using Query = int8_t;
  using Tile = int32_t (*)[integer_chunk];

  static const Query* prepare(const int8_t* query, int /*head_dim*/, void* /*memory*/) { return query; }

  // 2 keys at a time; a last single key is taken twice. The loop ends within a vector where head_dim does.
  //   r0 r2 r4 r6 sums [row][key]   r1 r3 keys   r5 r8 queries   r9 next key   r10 where scores go
  template <int rows>
  ATTEND_HOT ATTEND_NOINLINE static void scores(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int count,
                                                int head_dim, Tile scores) {
    struct {
      const Query* query[2];
      int32_t* last;
      int32_t zeros[2];
    } const parts = {{query[0], query[rows - 1]}, scores[0] + (count - 2), {0, 0}};
    register const void* from __asm__("r0") = &parts;
    register const int8_t* key __asm__("r9") = keys;
    register int32_t* to __asm__("r10") = scores[0];
    register ptrdiff_t step __asm__("r11") = stride;
    register int dimensions __asm__("r12") = head_dim;
    __asm__ volatile(
        "push {r0, r7}\n"
        "mov r7, r0\n"
        "1:\n"
        "ldrd r5, r8, [r7]\n"
        "ldr r1, [r7, #8]\n"
        "cmp r10, r1\n"
        "mov r1, r9\n"
        "ite ls\n"
        "addls r3, r9, r11\n"
        "movhi r3, r9\n"
        "add r9, r9, r11, lsl #1\n"
        "ldrd r0, r2, [r7, #12]\n"
        "ldrd r4, r6, [r7, #12]\n"
        "dlstp.8 lr, r12\n"
        "2:\n"
        "vldrb.u8 q0, [r5], #16\n"
        "vldrb.u8 q2, [r1], #16\n"
        "vmladava.s8 r0, q0, q2\n"
        "vldrb.u8 q3, [r3], #16\n"
        "vmladava.s8 r2, q0, q3\n"
        ".if %c[rows] == 2\n"
        "vldrb.u8 q1, [r8], #16\n"
        "vmladava.s8 r4, q1, q2\n"
        "vmladava.s8 r6, q1, q3\n"
        ".endif\n"
        "letp lr, 2b\n"
        ".if %c[rows] == 2\n"
        "strd r4, r6, [r10, %[row]]\n"
        ".endif\n"
        "strd r0, r2, [r10], #8\n"
        "blo 1b\n"
        "pop {r0, r7}\n"
        : "+r"(from), "+r"(key), "+r"(to)
        : "r"(step), "r"(dimensions), [rows] "i"(rows), [row] "i"(4 * integer_chunk)
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "cc", "memory");
  }

  ATTEND_HOT ATTEND_NOINLINE static int32_t largest(const int32_t* scores) {
    int32_t most = *scores;
    __asm__ volatile(
        ".rept %c[vectors]\n"
        "vldrw.u32 q0, [%[scores]], #16\n"
        "vmaxv.s32 %[most], q0\n"
        ".endr\n"
        : [most] "+r"(most), [scores] "+r"(scores)
        : [vectors] "i"(integer_chunk / 4)
        : "q0", "memory");
    return most;
  }

  static int16_t* weight(Tile tile, int row, int key) { return reinterpret_cast<int16_t*>(tile[row] + key); }

  static uint32_t weights(Tile tile, int row, int32_t largest, const core::ScoreScale& scale, uint32_t fraction) {
    return weights_of_row(tile[row], largest, scale, fraction);
  }

  template <int rows>
  static void values(Tile weights, const int8_t* values, ptrdiff_t stride, int count, int width, const Merge* merges,
                     int32_t* sums) {
    const int whole = width & -8;
    if (whole > 0) {
      const Merge &first = merges[0], &last = merges[rows - 1];
      Values of_rows = {values,
                        whole,
                        {sums, sums + (rows - 1) * width},
                        {{-first.total, -first.chunk}, {-last.total, -last.chunk}},
                        weights[0],
                        count / 4,
                        count % 4};
      values_of_rows<rows>(of_rows, stride);
    }
    for (int r = 0; r < rows; ++r) {
      for (int c = whole; c < width; ++c) {
        add_column(weights[r], values + c, stride, count, merges[r], sums + r * width + c);
      }
    }
  }

  // output_of and clamped, 4 columns at a time; the loop ends within a vector where the row does.
  ATTEND_HOT ATTEND_NOINLINE static void outputs(const int32_t* sums, const RowEnd& end, int count, int8_t* to) {
    __asm__ volatile(
        "vdup.32 q1, %[factor]\n"
        "dlstp.32 lr, %[count]\n"
        "1:\n"
        "vldrw.u32 q0, [%[sums]], #16\n"
        "vshl.s32 q0, %[left]\n"
        "vshr.s32 q0, q0, #1\n"
        "vsub.i32 q0, q0, %[zero]\n"
        "vmulh.s32 q0, q0, q1\n"
        "vrshl.s32 q0, %[right]\n"
        "vadd.i32 q0, q0, %[offset]\n"
        "vqmovnb.s32 q0, q0\n"
        "vqmovnb.s16 q0, q0\n"
        "vstrb.32 q0, [%[to]], #4\n"
        "letp lr, 1b\n"
        : [sums] "+r"(sums), [to] "+l"(to)
        : [factor] "r"(end.factor), [count] "r"(count), [left] "r"(end.left), [zero] "r"(end.zero), [right] "r"(-end.shift),
          [offset] "r"(end.offset)
        : "lr", "q0", "q1", "cc", "memory");
  }

 private:
  // c - ((x * power) >> 11) is ((c << 11) + 2047 - x * power) >> 11.
  static constexpr uint32_t before_shift(uint32_t coefficient) { return coefficient << 11 | 2047; }

  // The exponent has octaves, from 1 on, in 5 bits, and 2048ths of one in the next 11.
  //   q0 exponents   q1 less the fraction   q2 power   q5 factor   q6 largest
  ATTEND_HOT ATTEND_NOINLINE static uint32_t weights_of_row(int32_t* scores, int32_t largest, const core::ScoreScale& scale,
                                                            uint32_t fraction) {
    static constexpr uint32_t coefficients[] = {exp2_c3, before_shift(exp2_c2), before_shift(exp2_c1), before_shift(exp2_c0)};
    register uint32_t left __asm__("r0") = 0u - uint32_t(scale.right);
    register uint32_t end __asm__("r1") = scale.end;
    register uint32_t begin __asm__("r2") = (fraction + 2048) << 16;
    register const uint32_t* from __asm__("r8") = coefficients;
    register int32_t* to __asm__("r9") = scores;
    register uint32_t sum __asm__("r10") = 0;
    register int32_t most __asm__("r11") = largest;
    register uint32_t factor __asm__("r12") = scale.factor;
    __asm__ volatile(
        "ldm r8, {r3, r4, r5, r6}\n"
        "vdup.32 q6, r11\n"
        "vdup.32 q5, r12\n"
        "mov lr, %[rounds]\n"
        "dls lr, lr\n"
        "1:\n"
        ".rept 2\n"
        "vldrw.u32 q0, [r9]\n"
        "vsub.i32 q0, q6, q0\n"
        "vshl.u32 q0, r0\n"
        "vcmp.u32 cs, q0, r1\n"
        "vmlas.u32 q0, q5, r2\n"
        "vshl.i32 q1, q0, #5\n"
        "vshr.u32 q1, q1, #21\n"
        "vshr.u32 q0, q0, #27\n"
        "vneg.s32 q1, q1\n"
        "vmul.i32 q2, q1, r3\n"
        "vneg.s32 q0, q0\n"
        "vadd.i32 q2, q2, r4\n"
        "vshr.u32 q2, q2, #11\n"
        "vmlas.u32 q2, q1, r5\n"
        "vshr.u32 q2, q2, #11\n"
        "vmlas.u32 q2, q1, r6\n"
        "vshr.u32 q2, q2, #11\n"
        "vrshl.u32 q2, q2, q0\n"
        "vpst\n"
        "vmovt.i32 q2, #0\n"
        "vaddva.u32 r10, q2\n"
        "vstrw.32 q2, [r9], #16\n"
        ".endr\n"
        "le lr, 1b\n"
        : "+r"(to), "+r"(sum)
        : "r"(left), "r"(end), "r"(begin), "r"(from), "r"(most), "r"(factor), [rounds] "i"(integer_chunk / 8)
        : "r3", "r4", "r5", "r6", "lr", "q0", "q1", "q2", "q5", "q6", "cc", "memory");
    return sum;
  }

  // In the order in which assembly reads it.
  struct Values {
    const int8_t* values;
    int columns;  // left
    int32_t* sums[2];
    struct {
      int32_t total, chunk;
    } left[2];  // by how much sums are shifted left
    const int32_t* weights;
    int fours, ones;  // of keys
  };

  // 8 columns of 2 rows, 4 keys at a time.
  //   q0 q1 q2 q3 sums [row][columns]   q4 q5 values   r0-r3 r4 r5 r8 r9 weights   r6 value   r10 weights
  template <int rows>
  ATTEND_HOT ATTEND_NOINLINE static void values_of_rows(Values& values, ptrdiff_t stride) {
    register Values* call __asm__("r12") = &values;
    register ptrdiff_t step __asm__("r11") = stride;
    __asm__ volatile(
        ".macro attend_key first, second\n"
        "vldrb.s32 q4, [r6]\n"
        "vmla.s32 q0, q4, \\first\n"
        ".if %c[rows] == 2\n"
        "vmla.s32 q2, q4, \\second\n"
        ".endif\n"
        "vldrb.s32 q5, [r6, #4]\n"
        "vmla.s32 q1, q5, \\first\n"
        ".if %c[rows] == 2\n"
        "vmla.s32 q3, q5, \\second\n"
        ".endif\n"
        "add r6, r6, r11\n"
        ".endm\n"
        "1:\n"
        "ldr r6, [r12]\n"
        "ldrd r10, lr, [r12, #32]\n"
        ".irpc i, 0123\n"
        "vmov.i32 q\\i, #0\n"
        ".endr\n"
        "wls lr, lr, 3f\n"
        "2:\n"
        "ldm r10!, {r0, r1, r2, r3}\n"
        ".if %c[rows] == 2\n"
        "ldrd r4, r5, [r10, %[row] - 16]\n"
        "ldrd r8, r9, [r10, %[row] - 8]\n"
        ".endif\n"
        "attend_key r0, r4\n"
        "attend_key r1, r5\n"
        "attend_key r2, r8\n"
        "attend_key r3, r9\n"
        "le lr, 2b\n"
        "3:\n"
        "ldr lr, [r12, #40]\n"
        "wls lr, lr, 5f\n"
        "4:\n"
        ".if %c[rows] == 2\n"
        "ldr r4, [r10, %[row]]\n"
        ".endif\n"
        "ldr r0, [r10], #4\n"
        "attend_key r0, r4\n"
        "le lr, 4b\n"
        "5:\n"
        ".purgem attend_key\n"
        "ldm r12, {r0, r1, r2, r3, r4, r5, r6, r8}\n"
        ".irpc i, 01\n"
        "vldrw.u32 q4, [r2]\n"
        "vshl.s32 q4, r4\n"
        "vrshl.s32 q\\i, r5\n"
        "vadd.i32 q4, q4, q\\i\n"
        "vstrw.32 q4, [r2], #16\n"
        ".endr\n"
        ".if %c[rows] == 2\n"
        ".irpc i, 23\n"
        "vldrw.u32 q4, [r3]\n"
        "vshl.s32 q4, r6\n"
        "vrshl.s32 q\\i, r8\n"
        "vadd.i32 q4, q4, q\\i\n"
        "vstrw.32 q4, [r3], #16\n"
        ".endr\n"
        ".endif\n"
        "add r0, r0, #8\n"
        "subs r1, r1, #8\n"
        "stm r12, {r0, r1, r2, r3}\n"
        "bne 1b\n"
        : "+r"(call)
        : "r"(step), [rows] "i"(rows), [row] "i"(4 * integer_chunk)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc",
          "memory");
  }

  // A column of a row. (weights: those of the row.)
  ATTEND_NOINLINE static void add_column(const int32_t* weights, const int8_t* values, ptrdiff_t stride, int count,
                                         const Merge& merge, int32_t* sum) {
    int32_t added = merge.half;
    for (int k = 0; k < count; ++k) added += weights[k] * values[k * stride];
    *sum = (*sum >> merge.total) + (added >> merge.chunk);
  }
};

}  // namespace
}  // namespace attend
