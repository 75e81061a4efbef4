// Helium (Armv8.1-M MVE with float): 4 lanes, 8 registers; a factor stays in a general register.

struct Helium : HeliumGroups, HeliumTile {
  using Vec = float32x4_t;
  using Factor = float;
  static constexpr int lanes = 4, widened_columns = 16;
  static constexpr bool widens_apart = false;
  template <class Number>
  static constexpr int row_outputs = 0;
  static constexpr int columns(int /*rows*/, bool /*apart*/) { return 16; }
  static constexpr int panel_columns(int /*rows*/, int /*columns*/, int limit) { return limit; }
  static constexpr bool flushes = true;

  static Vec zero() { return vdupq_n_f32(0.0f); }
  static Vec broadcast(float a) { return vdupq_n_f32(a); }
  static Factor factor(float a) { return a; }
  static Vec load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Vec a) { vst1q_f32(to, a); }
  static Vec load_first(const float* from, int count) { return vld1q_z_f32(from, vctp32q(uint32_t(count))); }
  static void store_first(float* to, Vec a, int count) { vst1q_p_f32(to, a, vctp32q(uint32_t(count))); }

  static Vec add(Vec a, Vec b) { return vaddq_f32(a, b); }
  static Vec sub(Vec a, Vec b) { return vsubq_f32(a, b); }
  static Vec mul(Vec a, Vec b) { return vmulq_f32(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
  static Vec fma(Factor a, Vec b, Vec c) { return vfmaq_n_f32(c, b, a); }
  static Vec max(Vec a, Vec b) { return vmaxnmq_f32(a, b); }  // the number where one is NaN
  static float highest_lane(Vec a) { return vmaxnmvq_f32(vgetq_lane_f32(a, 0), a); }

  static bool has_below(const float* numbers, int count, uint32_t limit) {
    return largest_of<false>(numbers, count, 0.0f, nullptr) > ~limit;
  }
  static bool scale_row(const float* from, int count, float factor, uint32_t limit, float* to) {
    return largest_of<true>(from, count, factor, to) > ~limit;
  }

  // row[i] *= by[i]
  ATTEND_HOT static void multiply_rows(float* row, const float* by, int count) {
    for (; count >= 4; count -= 4, row += 4, by += 4) store(row, mul(load(row), load(by)));
    if (count > 0) store_first(row, mul(load_first(row, count), load_first(by, count)), count);
  }

  static Vec scale_by_power(Vec a, Vec n) {
    const int32x4_t exponent = vaddq_n_s32(vcvtq_s32_f32(n), 127);
    const Vec scaled = vmulq_f32(a, vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23)));
    return vpselq_f32(zero(), scaled, vcmpgtq_f32(broadcast(-125.0f), n));  // not lt: that is true for NaN
  }

  ATTEND_HOT static void chains(const Chains& c) { c.rows == 1 ? row(c) : tile(c); }
  static void panel_chains(const Chains& c) { chains(c); }  // where b's columns lie side by side

  // Chains of one row that go on from the sums in to[0], which take the result. Columns of b lie side by side.
  ATTEND_HOT static void continue_chains(const Chains& c) { c.columns == 16 ? continue_row(c) : Scalar::continue_chains(c); }

  ATTEND_HOT ATTEND_NOINLINE static void chains(const ChainsOf<Half>& c) { rows<half>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void chains(const ChainsOf<Bfloat>& c) { rows<bfloat>(c); }
  ATTEND_HOT ATTEND_NOINLINE static void chains(const ChainsOf<int8_t>& c) { rows<byte>(c); }

  ATTEND_HOT ATTEND_NOINLINE static void widen(const float* from, int count, float* to) { widen_as<single>(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Half* from, int count, float* to) { widen_as<half>(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const Bfloat* from, int count, float* to) { widen_as<bfloat>(from, count, to); }
  ATTEND_HOT ATTEND_NOINLINE static void widen(const int8_t* from, int count, float* to) { widen_as<byte>(from, count, to); }

  // Replaces `count` scores, whole panels of them, by their weights as row_softmax.h defines them, and adds these to the 16
  // sums: 4 of these at a time, over all panels. The polynomial's step, sum = sum * f + coefficient, takes the coefficient from
  // a general register.
  ATTEND_HOT ATTEND_NOINLINE static void weights_of_scores(float* scores, int count, float max, const float* coefficients,
                                                           float* lane_sums) {
    const float shift = 12582912.0f;
    const struct {
      float lowest;
      int bias;
      float shift;
      int panels;
    } numbers = {shift + (max - 125.0f), 127 - int(max), shift, count / panel_keys};
    register float* score __asm__("r8") = scores;
    register float* lane __asm__("r10") = lane_sums;
    register const float* coefficient __asm__("r11") = coefficients;
    register const void* number __asm__("r12") = &numbers;
    __asm__ volatile(
        "ldm r12, {r0, r1, r2, r3}\n"
        "add r12, r10, #64\n"
        "mov r6, r3\n"
        "vdup.32 q4, r0\n"
        "vdup.32 q5, r1\n"
        "vdup.32 q6, r2\n"
        "ldr r0, [r11], #4\n"
        "vdup.32 q7, r0\n"
        "ldm r11, {r0, r1, r2, r3, r4, r5}\n"
        "1:\n"
        "dls lr, r6\n"
        "vldrw.u32 q3, [r10]\n"
        "2:\n"
        "vldrw.u32 q0, [r8]\n"
        "vadd.f32 q1, q0, q6\n"
        "vsub.f32 q2, q1, q6\n"
        "vsub.f32 q0, q0, q2\n"
        "vmov q2, q7\n"
        "vfmas.f32 q2, q0, r0\n"
        "vfmas.f32 q2, q0, r1\n"
        "vfmas.f32 q2, q0, r2\n"
        "vfmas.f32 q2, q0, r3\n"
        "vfmas.f32 q2, q0, r4\n"
        "vfmas.f32 q2, q0, r5\n"
        "vadd.i32 q0, q1, q5\n"
        "vshl.i32 q0, q0, #23\n"
        "vmul.f32 q2, q2, q0\n"
        "vpt.f32 gt, q4, q1\n"  // not lt: that is true for NaN
        "vmovt.i32 q2, #0\n"
        "vadd.f32 q3, q3, q2\n"
        "vstrw.32 q2, [r8], #64\n"
        "le lr, 2b\n"
        "vstrw.32 q3, [r10], #16\n"
        "sub r8, r8, r6, lsl #6\n"
        "adds r8, r8, #16\n"
        "cmp r10, r12\n"
        "bne 1b\n"
        : "+r"(score), "+r"(lane), "+r"(coefficient), "+r"(number)
        :
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }

 private:
  // The largest -2 |a|, as integers without a sign: of the smallest number but 0. And to = numbers * factor, if it scales.
  template <bool scales>
  ATTEND_ALWAYS_INLINE static uint32_t largest_of(const float* numbers, int count, float factor, float* to) {
    uint32_t largest = 0;
    __asm__ volatile(
        "vmov.i32 q0, #0\n"
        "dlstp.32 lr, %[count]\n"
        "1:\n"
        "vldrw.u32 q1, [%[numbers]], #16\n"
        ".if %c[scales]\n"
        "vmul.f32 q2, q1, %[factor]\n"
        "vstrw.32 q2, [%[to]], #16\n"
        ".endif\n"
        "vmul.i32 q1, q1, %[by]\n"
        "vmax.u32 q0, q0, q1\n"
        "letp lr, 1b\n"
        "vmaxv.u32 %[largest], q0\n"
        : [numbers] "+r"(numbers), [to] "+r"(to), [largest] "+r"(largest)
        : [count] "r"(count), [factor] "r"(factor), [by] "r"(-2), [scales] "i"(int(scales))
        : "lr", "q0", "q1", "q2", "memory");
    return largest;
  }

  ATTEND_HOT ATTEND_NOINLINE static void row(const Chains& c) { HeliumRow::row<single, false>(c, 0); }
  ATTEND_HOT ATTEND_NOINLINE static void continue_row(const Chains& c) { HeliumRow::row<single, true>(c, 0); }  // of 16 columns

  template <Format format, class Number>
  ATTEND_ALWAYS_INLINE static void rows(const ChainsOf<Number>& c) {
    for (int r = 0; r < c.rows; ++r) HeliumRow::row<format, false>(c, r);
  }
};

// For functions around attention, which need more operations than the embedded form of attention does.
struct HeliumLayer : Helium {
  static Vec max(Vec a, Vec b) { return vpselq_f32(b, a, greater(b, a)); }  // a where one is NaN, unlike Helium's own
  static Vec min(Vec a, Vec b) { return vpselq_f32(b, a, greater(a, b)); }  // a where one is NaN
  // Clang up to 22 takes 0 > b for b < 0, which is true for NaN: it must not see that a is zero.
  static mve_pred16_t greater(Vec a, Vec b) {
#if defined(__clang__)
    __asm__("" : "+w"(a));
#endif
    return vcmpgtq_f32(a, b);
  }
  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) { return vpselq_f32(then, otherwise, vcmpeqq_f32(a, b)); }
  static Vec minus_reciprocal_guess(Vec a) {
    return vreinterpretq_f32_u32(vsubq_u32(vdupq_n_u32(0xfef311c7u), vreinterpretq_u32_f32(a)));
  }
  static Vec two_to(Vec n) { return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_n_s32(vreinterpretq_s32_f32(n), 127), 23)); }
};
