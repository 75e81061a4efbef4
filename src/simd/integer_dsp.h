// The kernels of integer attention for Cortex-M4, M7 and M33: SMLAD multiplies two numbers of 16 bits by two others and adds
// both products. What takes the time is in assembly, because it needs every register; r7 is saved there, because compilers may
// keep the frame pointer in it. What is kept of a tile of rows:
//   queries  [head_dim / 4][row][4] of 16 bits, dimensions in the order 0 2 1 3, as SXTB16 widens four of a key
//   weights  [key / 2][2 rows][2] of 16 bits, at the beginning of the scores
#pragma once

#include "integer_dsp_values.h"
#include "integer_query.h"

namespace attend {
namespace {

struct IntegerDsp : IntegerDspValues {
  static constexpr int tile_rows = 2;
  static constexpr bool packs = false;

  using Query = int16_t;

  static const Query* prepare(const int8_t* query, int head_dim, const IntegerQueryMemory& memory) {
    int16_t* const to = static_cast<int16_t*>(memory.tile) + 4 * memory.row;
    const int step = 4 * memory.rows;
    int d = 0;
    for (; d + 4 <= head_dim; d += 4) store_widened(to + d / 4 * step, load(query + d));
    if (d < head_dim) {
      uint32_t last = 0;
      for (int i = head_dim; i > d; --i) last = last << 8 | uint8_t(query[i - 1]);
      store_widened(to + d / 4 * step, last);
    }
    return to;
  }

  template <int rows>
  static void scores(const Query* const* query, const int8_t* keys, ptrdiff_t stride, int count, int head_dim, Tile scores) {
    const int fours = head_dim / 4, last = head_dim % 4;
    if (rows == 1 || fours == 0) {
      // Of less than 4 dimensions, only sums of nothing.
      for (int r = 0; r < rows; ++r) scores_of_row(query[r], keys, stride, count, fours, scores[r]);
    } else {
      const Scores of_rows = {scores[0], count, keys, stride, query[0], query[0] + fours * (4 * rows), -fours & 3};
      scores_of_rows(of_rows);
    }
    if (last == 0) return;
    for (int r = 0; r < rows; ++r) {
      add_last_dimensions(query[r] + fours * (4 * rows), keys + 4 * fours, stride, count, last, scores[r]);
    }
  }

 private:
  static void store_widened(int16_t* to, uint32_t bytes) {
    store(to, even(bytes));
    store(to + 2, odd(bytes));
  }

  // 1 row, 2 keys at a time; a last single key is taken twice.
  ATTEND_HOT ATTEND_NOINLINE static void scores_of_row(const Query* query, const int8_t* keys, ptrdiff_t stride, int count,
                                                       int fours, int32_t* scores) {
    for (int k = 0; k < count; k += 2, keys += 2 * stride) {
      const int8_t *first = keys, *second = k + 1 < count ? keys + stride : keys;
      const Query* at = query;
      int32_t first_sum = 0, second_sum = 0;
      for (int i = 0; i < fours; ++i, at += 4, first += 4, second += 4) {
        const uint32_t a = load(at), b = load(at + 2), first_key = load(first), second_key = load(second);
        first_sum = multiply_add(b, odd(first_key), multiply_add(a, even(first_key), first_sum));
        second_sum = multiply_add(b, odd(second_key), multiply_add(a, even(second_key), second_sum));
      }
      scores[k] = first_sum;
      scores[k + 1] = second_sum;
    }
  }

  // Of 1 to 3 dimensions that are left.
  ATTEND_NOINLINE static void add_last_dimensions(const Query* query, const int8_t* keys, ptrdiff_t stride, int count, int last,
                                                  int32_t* scores) {
    for (int k = 0; k < count; ++k, keys += stride) {
      uint32_t key = uint8_t(keys[0]);
      if (last > 1) key |= uint32_t(uint8_t(keys[1])) << 8;
      if (last > 2) key |= uint32_t(uint8_t(keys[2])) << 16;
      scores[k] = multiply_add(load(query + 2), odd(key), multiply_add(load(query), even(key), scores[k]));
    }
  }

  // In the order in which assembly reads it.
  struct Scores {
    int32_t* to;
    int left;  // keys
    const int8_t* keys;
    ptrdiff_t stride;
    const Query *query, *query_end;
    int missing;  // fours of dimensions to a multiple of 4
  };

  // 2 rows, 2 keys at a time; a last single key is taken twice. 4 dimensions take 15 instructions for 16 products.
  //   r0-r3 sums [row][key]   r4-r7 query   r8 r9 four of a key   r10 r11 addresses of keys   r12 of the query   lr its end
  ATTEND_HOT ATTEND_NOINLINE static void scores_of_rows(const Scores& scores) {
    register const Scores* call __asm__("r0") = &scores;
    __asm__ volatile(
        "push {r0, r7}\n"
        "1:\n"
        "ldr r12, [sp]\n"
        "ldm r12, {r4, r5, r10, r11}\n"
        "add r4, r4, #8\n"
        "subs r5, r5, #2\n"
        "it mi\n"
        "movmi r11, #0\n"
        "add r6, r10, r11, lsl #1\n"
        "add r11, r10, r11\n"
        "stm r12, {r4, r5, r6}\n"
        ".irpc i, 0123\n"
        "mov r\\i, #0\n"
        ".endr\n"
        "ldr r4, [r12, #24]\n"
        "ldrd r12, lr, [r12, #16]\n"
        ".macro attend_fours turns:vararg\n"
        ".irp turn, \\turns\n"
        "\\turn:\n"
        "ldm r12!, {r4, r5, r6, r7}\n"
        "ldr r8, [r10], #4\n"
        "sxtb16 r9, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "smlad r0, r4, r9, r0\n"
        "smlad r2, r6, r9, r2\n"
        "smlad r0, r5, r8, r0\n"
        "smlad r2, r7, r8, r2\n"
        "ldr r8, [r11], #4\n"
        "sxtb16 r9, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "smlad r1, r4, r9, r1\n"
        "smlad r3, r6, r9, r3\n"
        "smlad r1, r5, r8, r1\n"
        "smlad r3, r7, r8, r3\n"
        ".endr\n"
        ".endm\n"
        ".if %c[small]\n"
        "attend_fours 10\n"
        ".else\n"
        "tbb [pc, r4]\n"
        "2:\n"
        ".byte (10f - 2b) / 2, (11f - 2b) / 2, (12f - 2b) / 2, (13f - 2b) / 2\n"
        "attend_fours 10, 11, 12, 13\n"
        ".endif\n"
        ".purgem attend_fours\n"
        "cmp r12, lr\n"
        "bne 10b\n"
        "ldr r12, [sp]\n"
        "ldrd r4, r5, [r12]\n"
        "strd r0, r1, [r4, #-8]\n"
        "strd r2, r3, [r4, #%c[row] - 8]\n"
        "cmp r5, #0\n"
        "bgt 1b\n"
        "pop {r0, r7}\n"
        : "+r"(call)
        : [row] "i"(4 * integer_chunk), [small] "i"(small)
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
  }
};

}  // namespace
}  // namespace attend
