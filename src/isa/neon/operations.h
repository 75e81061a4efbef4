// NEON with fused multiply-add: 4 lanes. AArch64 has 32 registers; 32-bit Armv7-A with VFPv4 has 16, and flushes subnormals.

// Whether single lanes are loaded and stored. Clang 14 compiles that wrongly for big-endian processors.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ATTEND_NEON_LANES 1
#else
#define ATTEND_NEON_LANES 0
#endif

#if defined(__aarch64__)
using NeonTarget = Neon64;
#else
using NeonTarget = Neon32;
#endif

struct Neon : NeonTarget {
  using Factor = Vec;
  static constexpr int lanes = 4;

  // Rows one after another, which lie `stride` floats apart.
  template <int stride, class Maximum>
  ATTEND_NOINLINE static void weights_row_by_row(int rows, float* scores, int count, const Maximum* maxima, bool begun,
                                                 float* lane_sums) {
    for (int r = 0; r < rows; ++r, scores += stride, lane_sums += panel_keys) {
      weights_of_panels(scores, count, maxima[r].lowest_shifted, begun, lane_sums);
    }
  }
  template <int stride, class Maximum>
  ATTEND_ALWAYS_INLINE static bool weigh_rows(int rows, float* scores, int count, const Maximum* maxima, bool begun,
                                              float* lane_sums) {
    if (weighs_rows && count > 0) weights_row_by_row<stride>(rows, scores, count, maxima, begun, lane_sums);
    return weighs_rows;
  }

  static Vec zero() { return vdupq_n_f32(0.0f); }
  static Vec broadcast(float a) { return vdupq_n_f32(a); }
  static Factor factor(float a) { return broadcast(a); }
  static Vec load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Vec a) { vst1q_f32(to, a); }
  static Vec load_first(const float* from, int count) {
#if ATTEND_NEON_LANES
    // The last one fills the lanes behind it: nothing goes through memory, where a load of four would wait for four stores.
    const int last = count - 1;
    const Vec first = vld1q_lane_f32(from, vld1q_dup_f32(from + last), 0);
    return vld1q_lane_f32(from + (last > 2 ? 2 : last), vld1q_lane_f32(from + (last > 1 ? 1 : last), first, 1), 2);
#else
    float four[4] = {};
    for (int i = 0; i < count; ++i) four[i] = from[i];
    return vld1q_f32(four);
#endif
  }
  static void store_first(float* to, Vec a, int count) {
#if ATTEND_NEON_LANES
    vst1q_lane_f32(to, a, 0);
    if (count > 1) vst1q_lane_f32(to + 1, a, 1);
    if (count > 2) vst1q_lane_f32(to + 2, a, 2);
#else
    float four[4];
    vst1q_f32(four, a);
    for (int i = 0; i < count; ++i) to[i] = four[i];
#endif
  }

  static Vec load(const Half* from) { return widened(vld1_u16(reinterpret_cast<const uint16_t*>(from))); }
  static Vec load(const Bfloat* from) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16(reinterpret_cast<const uint16_t*>(from))), 16));
  }
  static Vec load(const int8_t* from) {
    const int16x8_t halves = vmovl_s8(vreinterpret_s8_u8(four_bytes(from)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(halves)));
  }

  static void load_words(const uint8_t* from, Vec* to) {
    const uint8x16_t bytes = vld1q_u8(from);
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_u8(vget_high_u8(bytes));
    to[0] = vreinterpretq_f32_u32(vmovl_u16(vget_low_u16(low)));
    to[1] = vreinterpretq_f32_u32(vmovl_u16(vget_high_u16(low)));
    to[2] = vreinterpretq_f32_u32(vmovl_u16(vget_low_u16(high)));
    to[3] = vreinterpretq_f32_u32(vmovl_u16(vget_high_u16(high)));
  }
  static Vec broadcast_half(Half number) { return widened(vdup_n_u16(number.bits)); }
  static Vec low_half(Vec words) { return vcvtq_f32_u32(vandq_u32(vreinterpretq_u32_f32(words), vdupq_n_u32(15))); }
  static Vec high_half(Vec words) { return vcvtq_f32_u32(vshrq_n_u32(vreinterpretq_u32_f32(words), 4)); }

  static constexpr int transposed = 4;
  static void transpose(const float* const* rows, int column, float* to) {
    Vec columns[4];
    columns_of(load(rows[0] + column), load(rows[1] + column), load(rows[2] + column), load(rows[3] + column), columns);
    for (int i = 0; i < 4; ++i) store(to + i * 16, columns[i]);
  }

  ATTEND_ALWAYS_INLINE static void columns_of_rows(const float* rows, ptrdiff_t stride, Vec (&to)[4]) {
    columns_of(load(rows), load(rows + stride), load(rows + 2 * stride), load(rows + 3 * stride), to);
  }
  ATTEND_ALWAYS_INLINE static void columns_of_rows(const uint8_t* rows, ptrdiff_t stride, Vec (&to)[4]) {
    const auto words = [=](int j) ATTEND_INLINE_LAMBDA {
      const uint8x16_t bytes = vld1q_u8(rows + j * stride);
      const bool in_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;  // or words have their first byte as the high one
      return vreinterpretq_f32_u8(in_order ? bytes : vrev32q_u8(bytes));
    };
    columns_of(words(0), words(1), words(2), words(3), to);
  }

  static constexpr float four_bits_above(float power) { return power; }
  template <int at>
  static Vec four_bits(Vec words) {
    constexpr int place = place_of_bits(at);
    uint32x4_t bits = vreinterpretq_u32_f32(words);
    if (place > at) bits = vshlq_n_u32(bits, place > at ? place - at : 0);
    if (place < at) bits = vshrq_n_u32(bits, place < at ? at - place : 1);
    bits = vandq_u32(bits, vdupq_n_u32(15u << place));
    return vreinterpretq_f32_u32(vorrq_u32(bits, vdupq_n_u32(uint32_t(150 - place) << 23)));
  }

  static Vec add(Vec a, Vec b) { return vaddq_f32(a, b); }
  static Vec sub(Vec a, Vec b) { return vsubq_f32(a, b); }
  static Vec mul(Vec a, Vec b) { return vmulq_f32(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
  static Vec accumulate(Vec a, Vec b, Vec sum) { return fma(a, b, sum); }
  static Vec max(Vec a, Vec b) { return vbslq_f32(above(b, a), b, a); }  // a where b is NaN
  static float highest_lane(Vec a) {
    const float32x2_t two = vmax_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(vpmax_f32(two, two), 0);
  }

  static Vec first_of(Vec a, Vec b, int count) {
    static constexpr int32_t lane[4] = {0, 1, 2, 3};
    return vbslq_f32(vcltq_s32(vld1q_s32(lane), vdupq_n_s32(count)), a, b);
  }

  static bool any_above(Vec a, Vec b) {
    const uint32x4_t mask = above(a, b);
    const uint32x2_t two = vorr_u32(vget_low_u32(mask), vget_high_u32(mask));
    return vget_lane_u64(vreinterpret_u64_u32(two), 0) != 0;
  }

  static Vec min(Vec a, Vec b) { return vbslq_f32(above(a, b), b, a); }  // a where one is NaN

  static Vec minus_reciprocal_guess(Vec a) {
    return vreinterpretq_f32_u32(vsubq_u32(vdupq_n_u32(0xfef311c7u), vreinterpretq_u32_f32(a)));
  }

  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) { return vbslq_f32(equal(a, b), then, otherwise); }

  static Vec where_bytes(const uint8_t* bytes, Vec a, Vec b) {
    const uint32x4_t wide = vmovl_u16(vget_low_u16(vmovl_u8(four_bytes(bytes))));
    return vbslq_f32(vceqq_u32(wide, vdupq_n_u32(0)), b, a);
  }
  static Vec where_bits(unsigned bits, Vec a, Vec b) {
    static constexpr uint32_t each[4] = {1, 2, 4, 8};
    return vbslq_f32(vtstq_u32(vdupq_n_u32(bits), vld1q_u32(each)), a, b);
  }

  static Vec two_to(Vec n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vreinterpretq_s32_f32(n), vdupq_n_s32(127)), 23));
  }

  static Vec scale_by_power(Vec a, Vec n) {
    const int32x4_t exponent = vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127));
    const Vec scaled = vmulq_f32(a, vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23)));
    const uint32x4_t dropped = above(vdupq_n_f32(-125.0f), n);  // false for NaN
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(scaled), dropped));
  }

  static Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest) {
    const uint32x4_t power = vaddq_u32(vshlq_n_u32(vreinterpretq_u32_f32(n), 23), vreinterpretq_u32_f32(bias));
    const Vec scaled = vmulq_f32(a, vreinterpretq_f32_u32(power));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(scaled), above(lowest, n)));
  }

  static float sum_lanes(const float* sums) {
    const Vec four = add(add(load(sums), load(sums + 8)), add(load(sums + 4), load(sums + 12)));
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }

 private:
  // Four bytes in lanes 0 to 3, and once more in 4 to 7; no byte behind them is read. Lane 0 holds the lowest byte of the
  // integer, which is not the first one in memory where the processor is big-endian.
  static uint8x8_t four_bytes(const void* from) {
#if !defined(__aarch64__) && defined(__ARM_FEATURE_UNALIGNED) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    // By one instruction: compilers take the way through another register, or through the stack.
    using Bytes = const uint8_t[4];
    uint8x8_t bytes;
    __asm__("vld1.32 {%P0[]}, [%1]" : "=w"(bytes) : "r"(from), "m"(*static_cast<Bytes*>(from)));
    return bytes;
#else
    uint32_t four;
    __builtin_memcpy(&four, from, sizeof four);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    four = __builtin_bswap32(four);
#endif
    return vreinterpret_u8_u32(vdup_n_u32(four));
#endif
  }
};

#undef ATTEND_NEON_LANES
