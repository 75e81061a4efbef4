// Single-precision floats of 32-bit RISC-V processors that have the extension F and no vectors: one lane, 32 registers. The
// vocabulary is Scalar's. The loops that take the time are in assembly, because the fewest instructions need all of the
// registers at every level of optimisation, and a call that saves few of them.

struct Rvf : RvfRows {
  static constexpr int columns(int rows, bool apart) { return rows == 1 && apart ? 4 : 16; }
  // A tile takes as few columns of a panel as it can, a row takes all.
  static constexpr int panel_columns(int rows, int columns, int limit) { return rows == 1 ? limit : (columns + 3) & -4; }

  // The number where one is NaN.
  static Vec max(Vec a, Vec b) {
    __asm__("fmax.s %0, %0, %1" : "+f"(a) : "f"(b));
    return a;
  }

  using RvfRows::chains;
  ATTEND_HOT static void chains(const Chains& c) {
    if (c.b_stride == 1) {
      panel_chains(c);
    } else if (c.rows == 1) {
      c.columns == 4 ? chains_of_rows_1x4(c, 0) : rest(c, 0);
    } else {
      if (c.columns >= 4) chains_of_rows_4x4(c);
      if (c.columns % 4 != 0) rest(c, c.columns & -4);
    }
  }

  // Where b's columns lie side by side.
  ATTEND_HOT static void panel_chains(const Chains& c) {
    if (c.rows == 1) {
      c.columns == 16 ? chains_1x16(c) : rest(c, 0);
    } else {
      if (c.columns >= 4) chains_4x4(c);
      if (c.columns % 4 != 0) rest(c, c.columns & -4);
    }
  }

  ATTEND_HOT static void continue_chains(const Chains& c) { c.columns == 16 ? continue_1x16(c) : Scalar::continue_chains(c); }

  // Replaces `count` scores, whole panels of them, by their weights as row_softmax.h defines them, and adds these to the 16
  // sums. What is below the lowest, infinities among it, is compared as bits: floats below zero are integers below zero.
  ATTEND_HOT ATTEND_NOINLINE static void weights_of_scores(float* scores, int count, float max, const float* coefficients,
                                                           float* lane_sums) {
    const float shift = 12582912.0f;
    const int whole_max = whole(max), lowest = bits_to<int>(shift) + whole_max - 125;  // of the shifted scores
    const float* const lanes_end = lane_sums + panel_keys;
    const ptrdiff_t next = ptrdiff_t(sizeof(float)) * (4 - count);
    const float* end = scores + count;
    int power0, power1, power2, power3;
    __asm__ volatile(
        "1:\n"
        ".irpc i, 0123\n"
        "flw fa\\i, 4 * \\i(%[lane])\n"
        ".endr\n"
        "2:\n"
        ".irpc i, 0123\n"
        "flw ft\\i, 4 * \\i(%[scores])\n"
        ".endr\n"
        "fadd.s ft4, ft0, %[shift]; fadd.s ft5, ft1, %[shift]; fadd.s ft6, ft2, %[shift]; fadd.s ft7, ft3, %[shift]\n"
        "fmv.x.w %[power0], ft4; fmv.x.w %[power1], ft5; fmv.x.w %[power2], ft6; fmv.x.w %[power3], ft7\n"
        "fsub.s ft4, ft4, %[shift]; fsub.s ft5, ft5, %[shift]; fsub.s ft6, ft6, %[shift]; fsub.s ft7, ft7, %[shift]\n"
        "fsub.s ft0, ft0, ft4; fsub.s ft1, ft1, ft5; fsub.s ft2, ft2, ft6; fsub.s ft3, ft3, ft7\n"
        "fmadd.s ft4, ft0, %[c0], %[c1]; fmadd.s ft5, ft1, %[c0], %[c1]\n"
        "fmadd.s ft6, ft2, %[c0], %[c1]; fmadd.s ft7, ft3, %[c0], %[c1]\n"
        ".irp c, %[c2], %[c3], %[c4], %[c5], %[c6]\n"
        "fmadd.s ft4, ft4, ft0, \\c; fmadd.s ft5, ft5, ft1, \\c; fmadd.s ft6, ft6, ft2, \\c; fmadd.s ft7, ft7, ft3, \\c\n"
        ".endr\n"
        "blt %[power0], %[lowest], 4f\n"
        "3: blt %[power1], %[lowest], 6f\n"
        "5: blt %[power2], %[lowest], 8f\n"
        "7: blt %[power3], %[lowest], 10f\n"
        "9:\n"
        ".irp power, %[power0], %[power1], %[power2], %[power3]\n"
        "slli \\power, \\power, 23\n"
        "add \\power, \\power, %[bias]\n"
        ".endr\n"
        "fmv.w.x ft0, %[power0]; fmv.w.x ft1, %[power1]; fmv.w.x ft2, %[power2]; fmv.w.x ft3, %[power3]\n"
        "fmul.s ft4, ft4, ft0; fmul.s ft5, ft5, ft1; fmul.s ft6, ft6, ft2; fmul.s ft7, ft7, ft3\n"
        "fsw ft4, 0(%[scores]); fsw ft5, 4(%[scores]); fsw ft6, 8(%[scores]); fsw ft7, 12(%[scores])\n"
        "fadd.s fa0, fa0, ft4; fadd.s fa1, fa1, ft5; fadd.s fa2, fa2, ft6; fadd.s fa3, fa3, ft7\n"
        "addi %[scores], %[scores], 64\n"
        "bne %[scores], %[end], 2b\n"
        ".irpc i, 0123\n"
        "fsw fa\\i, 4 * \\i(%[lane])\n"
        ".endr\n"
        "addi %[lane], %[lane], 16\n"
        "addi %[end], %[end], 16\n"
        "add %[scores], %[scores], %[next]\n"
        "bne %[lane], %[lanes_end], 1b\n"
        "j 11f\n"
        // A weight of 0: its power becomes `lowest`, so that the product is 0.
        "4: fmv.w.x ft4, zero; mv %[power0], %[lowest]; j 3b\n"
        "6: fmv.w.x ft5, zero; mv %[power1], %[lowest]; j 5b\n"
        "8: fmv.w.x ft6, zero; mv %[power2], %[lowest]; j 7b\n"
        "10: fmv.w.x ft7, zero; mv %[power3], %[lowest]; j 9b\n"
        "11:\n"
        : [scores] "+&r"(scores), [lane] "+&r"(lane_sums), [end] "+&r"(end), [power0] "=&r"(power0), [power1] "=&r"(power1),
          [power2] "=&r"(power2), [power3] "=&r"(power3)
        : [lanes_end] "r"(lanes_end), [next] "r"(next), [lowest] "r"(lowest), [bias] "r"(uint32_t(127 - whole_max) << 23),
          [shift] "f"(shift), [c0] "f"(coefficients[0]), [c1] "f"(coefficients[1]), [c2] "f"(coefficients[2]),
          [c3] "f"(coefficients[3]), [c4] "f"(coefficients[4]), [c5] "f"(coefficients[5]), [c6] "f"(coefficients[6])
        : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "memory");
  }

 private:
  // 1 row x 16 columns: 16 sums, 4 numbers of b and a factor. Sums begin at zero, or go on from sums in memory.
  ATTEND_HOT ATTEND_NOINLINE static void chains_1x16(const Chains& c) { row_1x16<false>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void continue_1x16(const Chains& c) { row_1x16<true>(c); }
  template <bool continues>
  ATTEND_ALWAYS_INLINE static void row_1x16(const Chains& c) {
    const float *a = c.a, *const end = a + c.steps, *b = c.b;
    float factor;
    __asm__ volatile(
        ".macro four at, s0, s1, s2, s3\n"
        "flw ft8, \\at(%[b]); flw ft9, \\at + 4(%[b]); flw ft10, \\at + 8(%[b]); flw ft11, \\at + 12(%[b])\n"
        "fmadd.s \\s0, %[factor], ft8, \\s0; fmadd.s \\s1, %[factor], ft9, \\s1\n"
        "fmadd.s \\s2, %[factor], ft10, \\s2; fmadd.s \\s3, %[factor], ft11, \\s3\n"
        ".endm\n"
        ".irpc i, 01234567\n"
        ".if %[continues]\n"
        "flw ft\\i, 4 * \\i(%[to]); flw fa\\i, 4 * \\i + 32(%[to])\n"
        ".else\n"
        "fmv.w.x ft\\i, zero; fmv.w.x fa\\i, zero\n"
        ".endif\n"
        ".endr\n"
        "1:\n"
        "flw %[factor], 0(%[a])\n"
        "addi %[a], %[a], 4\n"
        "fmul.s %[factor], %[factor], %[scale]\n"
        "four 0, ft0, ft1, ft2, ft3\n"
        "four 16, ft4, ft5, ft6, ft7\n"
        "four 32, fa0, fa1, fa2, fa3\n"
        "four 48, fa4, fa5, fa6, fa7\n"
        "add %[b], %[b], %[b_step]\n"
        "bne %[a], %[end], 1b\n"
        ".if !%[continues]\n"
        "beqz %[adds], 2f\n"
        ".irpc i, 01234567\n"
        "flw ft8, 4 * \\i(%[to]); flw ft9, 4 * \\i + 32(%[to])\n"
        "fadd.s ft\\i, ft\\i, ft8; fadd.s fa\\i, fa\\i, ft9\n"
        ".endr\n"
        ".endif\n"
        "2:\n"
        ".irpc i, 01234567\n"
        "fsw ft\\i, 4 * \\i(%[to]); fsw fa\\i, 4 * \\i + 32(%[to])\n"
        ".endr\n"
        ".purgem four\n"
        : [a] "+r"(a), [b] "+r"(b), [factor] "=&f"(factor)
        : [end] "r"(end), [b_step] "r"(sizeof(float) * size_t(c.b_step)), [to] "r"(c.to[0] + c.column), [adds] "r"(int(c.adds)),
          [scale] "f"(c.a_scale), [continues] "i"(int(continues))
        : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1", "fa2", "fa3",
          "fa4", "fa5", "fa6", "fa7", "memory");
  }

  // 4 rows x 4 columns at a time: 16 sums, 4 numbers of b and 2 factors. The first step begins the sums; the others go four a
  // round, and enter the first round at the step from which it is whole: pointers move so far beforehand.
  ATTEND_HOT ATTEND_NOINLINE static void chains_4x4(const Chains& c) { tiles_4x4<false>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void chains_of_rows_4x4(const Chains& c) { tiles_4x4<true>(c); }
  template <bool apart>
  ATTEND_ALWAYS_INLINE static void tiles_4x4(const Chains& c) {
    constexpr ptrdiff_t size = sizeof(float);
    const float *a0 = c.a, *a1 = a0 + c.a_stride, *a2 = a1 + c.a_stride, *a3 = a2 + c.a_stride;
    const float *b0 = c.b, *b1 = b0 + c.b_stride, *b2 = b1 + c.b_stride, *b3 = b2 + c.b_stride;
    const ptrdiff_t length = size * c.steps, b_step = size * c.b_step;
    ptrdiff_t column = size * c.column, to;
    __asm__ volatile(
        ".macro row a, at, factor, s0, s1, s2, s3, c0, c1, c2, c3\n"
        "flw \\factor, \\at(\\a)\n"
        "fmadd.s \\s0, \\factor, ft8, \\c0; fmadd.s \\s1, \\factor, ft9, \\c1\n"
        "fmadd.s \\s2, \\factor, ft10, \\c2; fmadd.s \\s3, \\factor, ft11, \\c3\n"
        ".endm\n"
        ".macro load_b at\n"
        ".if %[apart]\n"
        "flw ft8, \\at(%[b0]); flw ft9, \\at(%[b1]); flw ft10, \\at(%[b2]); flw ft11, \\at(%[b3])\n"
        ".else\n"
        "flw ft8, 0(%[b0]); flw ft9, 4(%[b0]); flw ft10, 8(%[b0]); flw ft11, 12(%[b0])\n"
        "add %[b0], %[b0], %[b_step]\n"
        ".endif\n"
        ".endm\n"
        ".macro step at\n"
        "load_b \\at\n"
        "row %[a0], \\at, fs0, ft0, ft1, ft2, ft3, ft0, ft1, ft2, ft3\n"
        "row %[a1], \\at, fs1, ft4, ft5, ft6, ft7, ft4, ft5, ft6, ft7\n"
        "row %[a2], \\at, fs0, fa0, fa1, fa2, fa3, fa0, fa1, fa2, fa3\n"
        "row %[a3], \\at, fs1, fa4, fa5, fa6, fa7, fa4, fa5, fa6, fa7\n"
        ".endm\n"
        ".macro move operation, by, by_of_b\n"
        ".irp pointer, %[a0], %[a1], %[a2], %[a3]\n"
        "\\operation \\pointer, \\pointer, \\by\n"
        ".endr\n"
        ".if %[apart]\n"
        ".irp pointer, %[b0], %[b1], %[b2], %[b3]\n"
        "\\operation \\pointer, \\pointer, \\by_of_b\n"
        ".endr\n"
        ".endif\n"
        ".endm\n"
        ".macro finish row, s0, s1, s2, s3\n"
        "lw %[to], 4 * \\row(%[rows])\n"
        "add %[to], %[to], %[column]\n"
        "beqz %[adds], 6f\n"
        "flw ft8, 0(%[to]); flw ft9, 4(%[to]); flw ft10, 8(%[to]); flw ft11, 12(%[to])\n"
        "fadd.s \\s0, \\s0, ft8; fadd.s \\s1, \\s1, ft9; fadd.s \\s2, \\s2, ft10; fadd.s \\s3, \\s3, ft11\n"
        "6:\n"
        "fsw \\s0, 0(%[to]); fsw \\s1, 4(%[to]); fsw \\s2, 8(%[to]); fsw \\s3, 12(%[to])\n"
        ".endm\n"
        "7:\n"
        "fmv.w.x fa7, zero\n"
        "load_b 0\n"
        "row %[a0], 0, fs0, ft0, ft1, ft2, ft3, fa7, fa7, fa7, fa7\n"
        "row %[a1], 0, fs1, ft4, ft5, ft6, ft7, fa7, fa7, fa7, fa7\n"
        "row %[a2], 0, fs0, fa0, fa1, fa2, fa3, fa7, fa7, fa7, fa7\n"
        "row %[a3], 0, fs1, fa4, fa5, fa6, fa7, fa7, fa7, fa7, fa7\n"
        "beqz %[enters], 2f\n"
        "move add, %[enters], %[enters]\n"
        "addi %[to], %[enters], 4\n"
        "beqz %[to], 3f\n"
        "bltz %[to], 4f\n"
        "beq %[a0], %[end], 5f\n"
        "1:\n"
        "step 0\n"
        "2:\n"
        "step 4\n"
        "3:\n"
        "step 8\n"
        "4:\n"
        "step 12\n"
        "move addi, 16, 16\n"
        "bne %[a0], %[end], 1b\n"
        "5:\n"
        "finish 0, ft0, ft1, ft2, ft3\n"
        "finish 1, ft4, ft5, ft6, ft7\n"
        "finish 2, fa0, fa1, fa2, fa3\n"
        "finish 3, fa4, fa5, fa6, fa7\n"
        "addi %[column], %[column], 16\n"
        "beq %[column], %[last], 8f\n"
        "move add, %[back], %[next]\n"
        ".if !%[apart]\n"
        "add %[b0], %[b0], %[next]\n"
        ".endif\n"
        "j 7b\n"
        "8:\n"
        ".purgem row\n"
        ".purgem load_b\n"
        ".purgem step\n"
        ".purgem move\n"
        ".purgem finish\n"
        : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2),
          [b3] "+r"(b3), [column] "+r"(column), [to] "=&r"(to)
        : [end] "r"(a0 + c.steps), [back] "r"(-length), [enters] "r"(size * (1 - ((1 - c.steps) & 3))), [b_step] "r"(b_step),
          [next] "r"(4 * size * c.b_stride - (apart ? length : b_step * c.steps)), [last] "r"(column + size * (c.columns & -4)),
          [rows] "r"(c.to), [adds] "r"(int(c.adds)), [apart] "i"(int(apart))
        : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1", "fa2", "fa3",
          "fa4", "fa5", "fa6", "fa7", "fs0", "fs1", "memory");
  }
};
