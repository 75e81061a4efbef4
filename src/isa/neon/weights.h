// Weights of scores with AArch64's NEON, in assembly: compilers copy each coefficient before the multiply-add that overwrites
// it, and copy four vectors to neighbouring registers before they are stored by one instruction.
#pragma once

#include "../../../include/attend/core/config.h"
#include "../../numerics/bits.h"
#include "../../numerics/exp2.h"

namespace attend::ATTEND_ISA {
namespace {

// A number as often as a panel has keys.
struct Repeated {
  float lanes[panel_keys];
};
constexpr Repeated repeated(float x) { return {{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}}; }

// The coefficients of 2^f, twice as large.
ATTEND_HOT_DATA constexpr Repeated doubled_coefficients[] = {
    repeated(2 * exp2_coefficients[0]), repeated(2 * exp2_coefficients[1]), repeated(2 * exp2_coefficients[2]),
    repeated(2 * exp2_coefficients[3]), repeated(2 * exp2_coefficients[4]), repeated(2 * exp2_coefficients[5]),
    repeated(2 * exp2_coefficients[6])};

struct NeonWeights {
  // Replaces `count` scores of a row, whole panels of them, by their weights, and adds these to the 16 sums of its denominator:
  // a panel at a time, four vectors side by side.
  //
  // The power of two that a fraction is multiplied by is half of what it should be, and the polynomial twice: so its exponent
  // bits are 0 where the weight is 0, and a shift that turns negative numbers to 0 does without a comparison. Scores far below
  // that come from above `floor`, because the fraction of minus infinity is NaN; a score that is NaN stays.
  //   count   at least one panel
  //   lowest  the lowest score with a weight, as row_softmax.h keeps it
  //   begun   whether the sums hold anything
  ATTEND_ALWAYS_INLINE static void weights_of_panels(float* scores, int count, const float& lowest, bool begun,
                                                     float* lane_sums) {
    const float *from = scores, *const end = scores + count;
    const auto& coefficients = doubled_coefficients;
    __asm__ volatile(
        "movi v28.4s, #0\nmovi v29.4s, #0\nmovi v30.4s, #0\nmovi v31.4s, #0\n"
        "cbz %w[begun], 1f\n"
        "ld1 {v28.4s-v31.4s}, [%[sums]]\n"
        "1:\n"
        "ld1 {v0.4s-v3.4s}, [%[from]]\n"
        "ld1 {v16.4s-v19.4s}, [%[c1]]\n"
        "add %[from], %[from], #64\n"
        "fmax v0.4s, v0.4s, %[floor].4s\nfmax v1.4s, v1.4s, %[floor].4s\n"
        "fmax v2.4s, v2.4s, %[floor].4s\nfmax v3.4s, v3.4s, %[floor].4s\n"
        "fadd v4.4s, v0.4s, %[shift].4s\nfadd v5.4s, v1.4s, %[shift].4s\n"
        "fadd v6.4s, v2.4s, %[shift].4s\nfadd v7.4s, v3.4s, %[shift].4s\n"
        "ld1 {v24.4s-v27.4s}, [%[c2]]\n"
        "fsub v20.4s, v4.4s, %[shift].4s\nfsub v21.4s, v5.4s, %[shift].4s\n"
        "fsub v22.4s, v6.4s, %[shift].4s\nfsub v23.4s, v7.4s, %[shift].4s\n"
        "fsub v0.4s, v0.4s, v20.4s\nfsub v1.4s, v1.4s, v21.4s\n"
        "fsub v2.4s, v2.4s, v22.4s\nfsub v3.4s, v3.4s, v23.4s\n"
        "ld1 {v20.4s-v23.4s}, [%[c3]]\n"
        "fmla v16.4s, v0.4s, %[first].4s\nfmla v17.4s, v1.4s, %[first].4s\n"
        "fmla v18.4s, v2.4s, %[first].4s\nfmla v19.4s, v3.4s, %[first].4s\n"
        "add v4.4s, v4.4s, %[bias].4s\nadd v5.4s, v5.4s, %[bias].4s\n"
        "add v6.4s, v6.4s, %[bias].4s\nadd v7.4s, v7.4s, %[bias].4s\n"
        "fmla v24.4s, v16.4s, v0.4s\nfmla v25.4s, v17.4s, v1.4s\n"
        "fmla v26.4s, v18.4s, v2.4s\nfmla v27.4s, v19.4s, v3.4s\n"
        "ld1 {v16.4s-v19.4s}, [%[c4]]\n"
        "sqshlu v4.4s, v4.4s, #23\nsqshlu v5.4s, v5.4s, #23\n"
        "sqshlu v6.4s, v6.4s, #23\nsqshlu v7.4s, v7.4s, #23\n"
        "fmla v20.4s, v24.4s, v0.4s\nfmla v21.4s, v25.4s, v1.4s\n"
        "fmla v22.4s, v26.4s, v2.4s\nfmla v23.4s, v27.4s, v3.4s\n"
        "ld1 {v24.4s-v27.4s}, [%[c5]]\n"
        "fmla v16.4s, v20.4s, v0.4s\nfmla v17.4s, v21.4s, v1.4s\n"
        "fmla v18.4s, v22.4s, v2.4s\nfmla v19.4s, v23.4s, v3.4s\n"
        "ld1 {v20.4s-v23.4s}, [%[c6]]\n"
        "fmla v24.4s, v16.4s, v0.4s\nfmla v25.4s, v17.4s, v1.4s\n"
        "fmla v26.4s, v18.4s, v2.4s\nfmla v27.4s, v19.4s, v3.4s\n"
        "fmla v20.4s, v24.4s, v0.4s\nfmla v21.4s, v25.4s, v1.4s\n"
        "fmla v22.4s, v26.4s, v2.4s\nfmla v23.4s, v27.4s, v3.4s\n"
        "fmul v20.4s, v20.4s, v4.4s\nfmul v21.4s, v21.4s, v5.4s\n"
        "fmul v22.4s, v22.4s, v6.4s\nfmul v23.4s, v23.4s, v7.4s\n"
        "st1 {v20.4s-v23.4s}, [%[to]]\n"
        "add %[to], %[to], #64\n"
        "fadd v28.4s, v28.4s, v20.4s\nfadd v29.4s, v29.4s, v21.4s\n"
        "fadd v30.4s, v30.4s, v22.4s\nfadd v31.4s, v31.4s, v23.4s\n"
        "cmp %[to], %[end]\n"
        "b.ne 1b\n"
        "st1 {v28.4s-v31.4s}, [%[sums]]\n"
        : [from] "+&r"(from), [to] "+&r"(scores)
        : [end] "r"(end), [sums] "r"(lane_sums), [begun] "r"(int(begun)), [c1] "r"(coefficients[1].lanes),
          [c2] "r"(coefficients[2].lanes), [c3] "r"(coefficients[3].lanes), [c4] "r"(coefficients[4].lanes),
          [c5] "r"(coefficients[5].lanes), [c6] "r"(coefficients[6].lanes), [shift] "w"(vdupq_n_f32(whole_shift)),
          [floor] "w"(vdupq_n_f32(-2.0f * near_max)), [first] "w"(vdupq_n_f32(coefficients[0].lanes[0])),
          [bias] "w"(vsubq_s32(vdupq_n_s32(1), vreinterpretq_s32_f32(vdupq_n_f32(lowest))))
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
          "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
  }
};

}  // namespace
}  // namespace attend::ATTEND_ISA
