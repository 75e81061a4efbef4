// Sums of values for Cortex-M4, M7 and M33. Weights lie [key / 2][2 rows][2] of 16 bits at the beginning of the scores.

struct IntegerDspValues : IntegerDspSoftmax {
  static int16_t* weight(Tile tile, int row, int key) {
    return reinterpret_cast<int16_t*>(tile[0]) + key / 2 * 4 + row * 2 + key % 2;
  }

  template <int rows>
  static void values(Tile weights, const int8_t* values, ptrdiff_t stride, int count, const IntegerSums& sums) {
    values_of(rows, weights, values, stride, count, sums);
  }

 private:
  static int32_t load_half(const int16_t* from) {
    int16_t half;
    __builtin_memcpy(&half, from, sizeof half);
    return half;
  }

  // A single row is taken twice, the second time with what adds nothing: as many instructions as a kernel for one row.
  ATTEND_HOT ATTEND_NOINLINE static void values_of(int rows, Tile weights, const int8_t* values, ptrdiff_t stride, int count,
                                                   const IntegerSums& to) {
    const int width = to.width;
    const Merge* const merges = to.merges;
    int32_t* const sums = to.data;
    const int whole = width & -4;
    if (whole > 0) {
      const int pairs = (count + 1) >> 1;
      const Merge second = rows == 1 ? adds_nothing : merges[1];
      Values call = {values,
                     whole,
                     {sums, rows == 1 ? sums : sums + width},
                     {{merges[0].total, 1 << (32 - merges[0].chunk)}, {second.total, 1 << (32 - second.chunk)}},
                     stride,
                     count % 2 != 0 ? 0 : 2 * stride,
                     weights[0] + 2 * pairs,
                     pairs - (code_is_small ? 0 : 4),
                     code_is_small ? 0 : -pairs & 3};
      // Assembly finds the address of `call` behind the weights, because all registers are taken. The scores of the second
      // row were there; where a block has one row, its query is.
      int32_t* const behind = weights[0] + integer_chunk;
      const int32_t kept = *behind;
      *behind = int32_t(reinterpret_cast<intptr_t>(&call));
      values_of_rows(call);
      *behind = kept;
    }
    for (int r = 0; r < rows; ++r) {
      for (int c = whole; c < width; ++c) {
        add_column(weight(weights, r, 0), values + c, stride, count, merges[r], sums + r * width + c);
      }
    }
  }

  // A column of a row; weights: the row's.
  ATTEND_NOINLINE static void add_column(const int16_t* weights, const int8_t* values, ptrdiff_t stride, int count,
                                         const Merge& merge, int32_t* sum) {
    int32_t added = merge.half;
    for (int k = 0; k < count; ++k) added += load_half(weights + k / 2 * 4 + k % 2) * values[k * stride];
    *sum = (*sum >> merge.total) + (added >> merge.chunk);
  }

  // In the order in which assembly reads it.
  struct Values {
    const int8_t* values;
    int columns;  // left
    int32_t* sums[2];
    struct {
      int32_t total, factor;  // 2^32 / 2^chunk: SMMLAR shifts by multiplying, rounds and adds
    } merges[2];
    ptrdiff_t stride;
    ptrdiff_t last_step;  // twice the distance of the two keys of the last pair
    const int32_t* weights_end;
    int fours;    // pairs of keys, less 4 where code is not small
    int missing;  // pairs of keys to a multiple of 4
  };

  // 2 rows, 4 columns, 2 keys at a time: 18 instructions for 16 products. One address would be too many for the registers. So
  // weights are pushed to the stack, last ones first, each pair of keys with the distance of its values, and popped: three
  // words of one instruction. Of each fourth pair, and where code is to be small of
  // each, the distance is doubled, and its last bit is set where another follows. A whole chunk begins its sums with its first
  // pair.
  //   r0-r3 r4-r7 sums of both rows   r8 r9 r10 values   r10 their distance   r11 r12 weights   lr address of values
  ATTEND_HOT ATTEND_NOINLINE static void values_of_rows(Values& values) {
    register Values* call __asm__("r0") = &values;
    __asm__ volatile(
        "push {r0, r7}\n"
        "1:\n"
        "ldr r12, [sp]\n"
        "ldrd r0, r9, [r12, #32]\n"
        "ldrd r12, lr, [r12, #40]\n"
        ".if %c[small]\n"
        "adds r3, r0, r0\n"
        "adds r3, r3, #1\n"
        ".else\n"
        "mov r3, r0\n"
        "mov r6, r0\n"
        "cmp lr, #12\n"
        "beq 7f\n"
        "cmp lr, #0\n"
        "blt 3f\n"
        "2:\n"
        "ldmdb r12!, {r1, r2, r4, r5, r7, r8, r10, r11}\n"
        "push {r0-r11}\n"
        "adc r9, r0, r0\n"  // the carry is set where another four follow
        "subs lr, lr, #4\n"
        "bge 2b\n"
        "3:\n"
        "adds lr, lr, #4\n"
        "beq 5f\n"
        ".endif\n"
        "mov r0, r9\n"
        "4:\n"
        "ldrd r1, r2, [r12, #-8]!\n"
        "push {r0, r1, r2}\n"
        "mov r0, r3\n"
        "subs lr, lr, #1\n"
        "bne 4b\n"
        "5:\n"
        "ldr lr, [r12, %[row]]\n"
        ".if %c[small] == 0\n"
        "ldr r8, [lr, #48]\n"
        ".endif\n"
        "ldr lr, [lr]\n"
        ".irpc i, 01234567\n"
        "movs r\\i, #0\n"
        ".endr\n"
        ".if %c[small] == 0\n"
        "tbb [pc, r8]\n"
        "6:\n"
        ".byte (10f - 6b) / 2, (11f - 6b) / 2, (12f - 6b) / 2, (13f - 6b) / 2\n"
        ".endif\n"
        ".macro attend_products sum, values, weights, first\n"
        ".if \\first\n"
        "smuad \\sum, \\values, \\weights\n"
        ".else\n"
        "smlad \\sum, \\values, \\weights, \\sum\n"
        ".endif\n"
        ".endm\n"
        ".macro attend_pair fourth, first=0\n"
        "pop {r10, r11, r12}\n"
        ".if \\fourth\n"
        "asrs r10, r10, #1\n"
        ".endif\n"
        "ldr.w r8, [lr]\n"
        "ldr.w r9, [lr, r10]\n"
        "add lr, lr, r10, lsl #1\n"
        "pkhbt r10, r8, r9, lsl #16\n"
        "pkhtb r8, r9, r8, asr #16\n"
        "sxtb16 r9, r10\n"
        "sxtb16 r10, r10, ror #8\n"
        "attend_products r0, r9, r11, \\first\n"
        "attend_products r4, r9, r12, \\first\n"
        "attend_products r1, r10, r11, \\first\n"
        "attend_products r5, r10, r12, \\first\n"
        "sxtb16 r9, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "attend_products r2, r9, r11, \\first\n"
        "attend_products r6, r9, r12, \\first\n"
        "attend_products r3, r8, r11, \\first\n"
        "attend_products r7, r8, r12, \\first\n"
        ".endm\n"
        // All 16 pairs of a whole chunk. The comparison has set the carry, as another four follow all fours but the last.
        ".if %c[small] == 0\n"
        "7:\n"
        "ldmdb r12!, {r1, r2, r4, r5, r7, r8, r10, r11}\n"
        "push {r0-r11}\n"
        "adc r9, r0, r0\n"
        ".rept 3\n"
        "ldmdb r12!, {r1, r2, r4, r5, r7, r8, r10, r11}\n"
        "push {r0-r11}\n"
        ".endr\n"
        "ldr lr, [r12, %[row]]\n"
        "ldr lr, [lr]\n"
        "attend_pair 0, 1\n"
        "b 11f\n"
        ".endif\n"
        ".if %c[small]\n"
        "10: attend_pair 1\n"
        ".else\n"
        "10: attend_pair 0\n"
        "11: attend_pair 0\n"
        "12: attend_pair 0\n"
        "13: attend_pair 1\n"
        ".endif\n"
        "bcs 10b\n"
        ".purgem attend_pair\n"
        ".purgem attend_products\n"
        "ldr lr, [sp]\n"
        "ldrd r10, r11, [lr, #16]\n"
        "ldr r12, [lr, #8]\n"
        ".irp pair, 0, 2\n"
        "ldrd r8, r9, [r12]\n"
        "asr r8, r8, r10\n"
        "asr r9, r9, r10\n"
        "smmlar r8, r\\pair, r11, r8\n"
        ".if \\pair\n"
        "smmlar r9, r3, r11, r9\n"
        ".else\n"
        "smmlar r9, r1, r11, r9\n"
        ".endif\n"
        "strd r8, r9, [r12], #8\n"
        ".endr\n"
        "ldrd r10, r11, [lr, #24]\n"
        "mov r9, r12\n"
        "ldr r12, [lr, #12]\n"
        "ldm r12, {r0, r1, r2, r3}\n"
        ".irpc i, 0123\n"
        "asr r\\i, r\\i, r10\n"
        ".endr\n"
        "smmlar r0, r4, r11, r0\n"
        "smmlar r1, r5, r11, r1\n"
        "smmlar r2, r6, r11, r2\n"
        "smmlar r3, r7, r11, r3\n"
        "stm r12!, {r0, r1, r2, r3}\n"
        "ldrd r7, r8, [lr]\n"
        "add r7, r7, #4\n"
        "subs r8, r8, #4\n"
        "stm lr, {r7, r8, r9, r12}\n"
        "bne 1b\n"
        "pop {r0, r7}\n"
        : "+r"(call)
        : [row] "i"(4 * integer_chunk), [small] "i"(small)
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
  }
};
