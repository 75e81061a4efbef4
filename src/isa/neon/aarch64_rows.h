// The loops of AArch64 over the scores of rows: their highest, and their weights.

// A number in all lanes.
struct Repeated {
  float lanes[4];
};
constexpr Repeated repeated(float x) { return {{x, x, x, x}}; }

// The coefficients of 2^f, twice as large.
ATTEND_HOT_DATA constexpr Repeated doubled_coefficients[] = {
    repeated(2 * exp2_coefficients[0]), repeated(2 * exp2_coefficients[1]), repeated(2 * exp2_coefficients[2]),
    repeated(2 * exp2_coefficients[3]), repeated(2 * exp2_coefficients[4]), repeated(2 * exp2_coefficients[5]),
    repeated(2 * exp2_coefficients[6])};

struct Neon64Rows {
  using Vec = float32x4_t;

  static Vec higher(Vec a, Vec b) { return vmaxnmq_f32(a, b); }

  // In assembly, because compilers load two vectors by one instruction, which takes in-order processors several times as long,
  // and use what they load soon after.
  ATTEND_ALWAYS_INLINE static void highest_of_six(const float* scores, ptrdiff_t stride, int count, Vec (&highest)[6]) {
    const float *row0 = scores, *row1 = row0 + stride, *row2 = row1 + stride, *row3 = row2 + stride, *row4 = row3 + stride;
    const float *row5 = row4 + stride, *const end = scores + count;
    __asm__(
        "1:\n"
        "ldur q16, [%[row0]]\nadd %[row0], %[row0], #64\nldur q17, [%[row1]]\nadd %[row1], %[row1], #64\n"
        "ldur q18, [%[row2]]\nadd %[row2], %[row2], #64\nldur q19, [%[row3]]\nadd %[row3], %[row3], #64\n"
        "ldur q20, [%[row4]]\nadd %[row4], %[row4], #64\nldur q21, [%[row5]]\nadd %[row5], %[row5], #64\n"
        "cmp %[row0], %[end]\n"
        "ldur q22, [%[row0], #-48]\nfmaxnm %[high0].4s, %[high0].4s, v16.4s\n"
        "ldur q23, [%[row1], #-48]\nfmaxnm %[high1].4s, %[high1].4s, v17.4s\n"
        "ldur q24, [%[row2], #-48]\nfmaxnm %[high2].4s, %[high2].4s, v18.4s\n"
        "ldur q25, [%[row3], #-48]\nfmaxnm %[high3].4s, %[high3].4s, v19.4s\n"
        "ldur q26, [%[row4], #-48]\nfmaxnm %[high4].4s, %[high4].4s, v20.4s\n"
        "ldur q27, [%[row5], #-48]\nfmaxnm %[high5].4s, %[high5].4s, v21.4s\n"
        "ldur q16, [%[row0], #-32]\nfmaxnm %[high0].4s, %[high0].4s, v22.4s\n"
        "ldur q17, [%[row1], #-32]\nfmaxnm %[high1].4s, %[high1].4s, v23.4s\n"
        "ldur q18, [%[row2], #-32]\nfmaxnm %[high2].4s, %[high2].4s, v24.4s\n"
        "ldur q19, [%[row3], #-32]\nfmaxnm %[high3].4s, %[high3].4s, v25.4s\n"
        "ldur q20, [%[row4], #-32]\nfmaxnm %[high4].4s, %[high4].4s, v26.4s\n"
        "ldur q21, [%[row5], #-32]\nfmaxnm %[high5].4s, %[high5].4s, v27.4s\n"
        "ldur q22, [%[row0], #-16]\nfmaxnm %[high0].4s, %[high0].4s, v16.4s\n"
        "ldur q23, [%[row1], #-16]\nfmaxnm %[high1].4s, %[high1].4s, v17.4s\n"
        "ldur q24, [%[row2], #-16]\nfmaxnm %[high2].4s, %[high2].4s, v18.4s\n"
        "ldur q25, [%[row3], #-16]\nfmaxnm %[high3].4s, %[high3].4s, v19.4s\n"
        "ldur q26, [%[row4], #-16]\nfmaxnm %[high4].4s, %[high4].4s, v20.4s\n"
        "ldur q27, [%[row5], #-16]\nfmaxnm %[high5].4s, %[high5].4s, v21.4s\n"
        "fmaxnm %[high0].4s, %[high0].4s, v22.4s\nfmaxnm %[high1].4s, %[high1].4s, v23.4s\n"
        "fmaxnm %[high2].4s, %[high2].4s, v24.4s\nfmaxnm %[high3].4s, %[high3].4s, v25.4s\n"
        "fmaxnm %[high4].4s, %[high4].4s, v26.4s\nfmaxnm %[high5].4s, %[high5].4s, v27.4s\n"
        "b.ne 1b\n"
        : [high0] "+w"(highest[0]), [high1] "+w"(highest[1]), [high2] "+w"(highest[2]), [high3] "+w"(highest[3]),
          [high4] "+w"(highest[4]), [high5] "+w"(highest[5]), [row0] "+&r"(row0), [row1] "+&r"(row1), [row2] "+&r"(row2),
          [row3] "+&r"(row3), [row4] "+&r"(row4), [row5] "+&r"(row5)
        : [end] "r"(end)
        : "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "cc", "memory");
  }

  // Replaces `count` scores of a row, whole panels of them, by their weights, and adds these to the 16 sums of its denominator:
  // a panel at a time, four vectors side by side.
  //
  // The power of two that a fraction is multiplied by is half of what it should be, and the polynomial twice: so its exponent
  // bits are 0 where the weight is 0, and a shift that turns negative numbers to 0 does without a comparison. Scores far below
  // that come from above `floor`, because the fraction of minus infinity is NaN; a score that is NaN stays.
  // In assembly: compilers copy each coefficient before the multiply-add that overwrites it, and copy four vectors to
  // neighbouring registers before they are stored by one instruction. Coefficients are loaded one by one, by offsets that may
  // be negative: in-order processors take several times as long for four at once, Neoverse N1 takes other offsets for two
  // operations. They lie where in-order processors wait for a multiply-add, or beside other instructions.
  //   count   at least one panel
  //   lowest  of score + whole_shift where there is a weight: RowMaximum::lowest_shifted
  //   begun   whether the sums hold anything
  ATTEND_ALWAYS_INLINE static void weights_of_panels(float* scores, int count, float lowest, bool begun, float* lane_sums) {
    const float *from = scores, *const end = scores + count;
    const auto& coefficients = doubled_coefficients;
    __asm__ volatile(
        "movi v28.4s, #0\nmovi v29.4s, #0\nmovi v30.4s, #0\nmovi v31.4s, #0\n"
        "cbz %w[begun], 1f\n"
        "ld1 {v28.4s-v31.4s}, [%[sums]]\n"
        "1:\n"
        "ldur q0, [%[from]]\nldur q1, [%[from], #16]\nldur q2, [%[from], #32]\nldur q3, [%[from], #48]\n"
        "ldur q16, [%[c1]]\nfmax v0.4s, v0.4s, %[floor].4s\nldur q17, [%[c1]]\nfmax v1.4s, v1.4s, %[floor].4s\n"
        "ldur q18, [%[c1]]\nfmax v2.4s, v2.4s, %[floor].4s\nldur q19, [%[c1]]\nfmax v3.4s, v3.4s, %[floor].4s\n"
        "ldur q24, [%[c1], #16]\nfadd v4.4s, v0.4s, %[shift].4s\nldur q25, [%[c1], #16]\nfadd v5.4s, v1.4s, %[shift].4s\n"
        "ldur q26, [%[c1], #16]\nfadd v6.4s, v2.4s, %[shift].4s\nldur q27, [%[c1], #16]\nfadd v7.4s, v3.4s, %[shift].4s\n"
        "add %[from], %[from], #64\n"
        "fsub v20.4s, v4.4s, %[shift].4s\nfsub v21.4s, v5.4s, %[shift].4s\n"
        "fsub v22.4s, v6.4s, %[shift].4s\nfsub v23.4s, v7.4s, %[shift].4s\n"
        "cmp %[from], %[end]\n"
        "fsub v0.4s, v0.4s, v20.4s\nfsub v1.4s, v1.4s, v21.4s\n"
        "fsub v2.4s, v2.4s, v22.4s\nfsub v3.4s, v3.4s, v23.4s\n"
        "ldur q20, [%[c1], #32]\nadd v4.4s, v4.4s, %[bias].4s\nldur q21, [%[c1], #32]\nadd v5.4s, v5.4s, %[bias].4s\n"
        "ldur q22, [%[c1], #32]\nadd v6.4s, v6.4s, %[bias].4s\nldur q23, [%[c1], #32]\nadd v7.4s, v7.4s, %[bias].4s\n"
        "fmla v16.4s, v0.4s, %[first].4s\nfmla v17.4s, v1.4s, %[first].4s\n"
        "fmla v18.4s, v2.4s, %[first].4s\nfmla v19.4s, v3.4s, %[first].4s\n"
        "sqshlu v4.4s, v4.4s, #23\nsqshlu v5.4s, v5.4s, #23\n"
        "sqshlu v6.4s, v6.4s, #23\nsqshlu v7.4s, v7.4s, #23\n"
        "fmla v24.4s, v16.4s, v0.4s\nfmla v25.4s, v17.4s, v1.4s\n"
        "fmla v26.4s, v18.4s, v2.4s\nfmla v27.4s, v19.4s, v3.4s\n"
        "ldur q16, [%[c1], #48]\nldur q17, [%[c1], #48]\nldur q18, [%[c1], #48]\nldur q19, [%[c1], #48]\n"
        "fmla v20.4s, v24.4s, v0.4s\nfmla v21.4s, v25.4s, v1.4s\n"
        "fmla v22.4s, v26.4s, v2.4s\nfmla v23.4s, v27.4s, v3.4s\n"
        "ldur q24, [%[c1], #64]\nldur q25, [%[c1], #64]\nldur q26, [%[c1], #64]\nldur q27, [%[c1], #64]\n"
        "fmla v16.4s, v20.4s, v0.4s\nfmla v17.4s, v21.4s, v1.4s\n"
        "fmla v18.4s, v22.4s, v2.4s\nfmla v19.4s, v23.4s, v3.4s\n"
        "ldur q20, [%[c1], #80]\nldur q21, [%[c1], #80]\nldur q22, [%[c1], #80]\nldur q23, [%[c1], #80]\n"
        "fmla v24.4s, v16.4s, v0.4s\nfmla v25.4s, v17.4s, v1.4s\n"
        "fmla v26.4s, v18.4s, v2.4s\nfmla v27.4s, v19.4s, v3.4s\n"
        "fmla v20.4s, v24.4s, v0.4s\nfmla v21.4s, v25.4s, v1.4s\n"
        "fmla v22.4s, v26.4s, v2.4s\nfmla v23.4s, v27.4s, v3.4s\n"
        "fmul v20.4s, v20.4s, v4.4s\nfmul v21.4s, v21.4s, v5.4s\n"
        "fmul v22.4s, v22.4s, v6.4s\nfmul v23.4s, v23.4s, v7.4s\n"
        "fadd v28.4s, v28.4s, v20.4s\nfadd v29.4s, v29.4s, v21.4s\n"
        "fadd v30.4s, v30.4s, v22.4s\nfadd v31.4s, v31.4s, v23.4s\n"
        "st1 {v20.4s-v23.4s}, [%[to]], #64\n"
        "b.ne 1b\n"
        "st1 {v28.4s-v31.4s}, [%[sums]]\n"
        : [from] "+&r"(from), [to] "+&r"(scores)
        : [end] "r"(end), [sums] "r"(lane_sums), [begun] "r"(int(begun)), [c1] "r"(coefficients[1].lanes),
          [shift] "w"(vdupq_n_f32(whole_shift)), [floor] "w"(vdupq_n_f32(-2.0f * near_max)),
          [first] "w"(vdupq_n_f32(coefficients[0].lanes[0])),
          [bias] "w"(vsubq_s32(vdupq_n_s32(1), vreinterpretq_s32_f32(vdupq_n_f32(lowest))))
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
          "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
  }
};
