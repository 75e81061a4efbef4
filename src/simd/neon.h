// NEON with fused multiply-add: 4 lanes. AArch64 has 32 registers; 32-bit Armv7-A with VFPv4 has 16, and flushes subnormals.
#pragma once

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "../numerics/formats.h"
#if defined(__aarch64__)
#include "neon_weights.h"
#endif

// Whether single lanes are loaded and stored. Clang 14 compiles that wrongly for big-endian processors.
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ATTEND_NEON_LANES 1
#else
#define ATTEND_NEON_LANES 0
#endif

namespace attend {
namespace {

#if defined(__aarch64__)
struct NeonBase : NeonWeights {};
#else
struct NeonBase {};
#endif

struct Neon : NeonBase {
  using Vec = float32x4_t;
  using Factor = Vec;
  static constexpr int lanes = 4;

#if defined(__aarch64__)
  // Tiles: 6 x 4 sums, the factors of 6 rows and 2 vectors fill all 32 registers.
  static constexpr int tile_rows = 6;
  // 6, 4, 3, 2, 1
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left >= 6 && left != 8 ? 6 : left > 3 ? 4 : left; }
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows == 1 ? 8 : 4; }
  // of other formats
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return tile_vecs(rows); }
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) { return kernel_rows(left); }
  // Not where the first byte is the high one: as in add_four.
  static constexpr bool has_weights = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
#else
  // Tiles: 4 x 2 sums, 2 vectors and a query element leave 5 of 16 registers.
  static constexpr int tile_rows = 4;
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left > 3 ? 4 : left == 3 ? 2 : left; }  // 4, 2, 1
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows <= 2 ? 4 : 2; }
  // of other formats
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
  // weighed side by side
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) { return kernel_rows(left); }
  static constexpr bool has_weights = false;
#endif

  static constexpr int prefetch_ahead = 0;  // of values, for one row

#if defined(__aarch64__)
  static constexpr int lane_factors = 4;

  // With the intrinsic function GCC starts multiply-adds and loads in another order, for which 32 registers are too few, and
  // spills sums of the largest tile. It keeps assembly where it is.
  template <int lane>
  static Vec fma_lane(Vec factors, Vec b, Vec c) {
#if defined(__clang__)
    return vfmaq_laneq_f32(c, b, factors, lane);
#else
    __asm__("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(c) : "w"(b), "w"(factors), "i"(lane));
    return c;
#endif
  }

  template <int lane>
  static Vec mul_lane(Vec factors, Vec b) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__  // as in add_four
    return fma_lane<lane>(factors, b, zero());
#elif defined(__clang__)
    return vmulq_laneq_f32(b, factors, lane);
#else
    Vec product;
    __asm__("fmul %0.4s, %1.4s, %2.s[%c3]" : "=w"(product) : "w"(b), "w"(factors), "i"(lane));
    return product;
#endif
  }

  // In assembly, because a load and a store of four want neighbouring registers, where sums hardly are.
  // Where the first byte is the high one, Clang may keep lanes in another order than these instructions read them in.
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  static void add_four(const Vec* sums, float* to) {
    for (int v = 0; v < 4; ++v) store(to + 4 * v, add(load(to + 4 * v), sums[v]));
  }
  static void store_four(const Vec* sums, float* to) {
    for (int v = 0; v < 4; ++v) store(to + 4 * v, add(sums[v], zero()));
  }
#else
  static void add_four(const Vec* sums, float* to) {
    __asm__(
        "ld1 {v28.4s-v31.4s}, [%1]\n"
        "fadd v28.4s, v28.4s, %2.4s\n"
        "fadd v29.4s, v29.4s, %3.4s\n"
        "fadd v30.4s, v30.4s, %4.4s\n"
        "fadd v31.4s, v31.4s, %5.4s\n"
        "st1 {v28.4s-v31.4s}, [%1]"
        : "+m"(*reinterpret_cast<float(*)[16]>(to))
        : "r"(to), "w"(sums[0]), "w"(sums[1]), "w"(sums[2]), "w"(sums[3])
        : "v28", "v29", "v30", "v31");
  }
  static void store_four(const Vec* sums, float* to) {
    __asm__(
        "fadd v28.4s, %2.4s, %6.4s\n"
        "fadd v29.4s, %3.4s, %6.4s\n"
        "fadd v30.4s, %4.4s, %6.4s\n"
        "fadd v31.4s, %5.4s, %6.4s\n"
        "st1 {v28.4s-v31.4s}, [%1]"
        : "=m"(*reinterpret_cast<float(*)[16]>(to))
        : "r"(to), "w"(sums[0]), "w"(sums[1]), "w"(sums[2]), "w"(sums[3]), "w"(zero())
        : "v28", "v29", "v30", "v31");
  }
#endif

  // Clang would make the loads of several steps first. GCC does not, and would copy a.
  static void compute_before_loads([[maybe_unused]] Vec& a) {
#if defined(__clang__)
    __asm__ volatile("" : "+w"(a) : : "memory");
#else
    __asm__ volatile("" : : : "memory");
#endif
  }

  // Four vectors that lie side by side.
  static void load_four(const float* from, Vec (&to)[4]) {
    const float32x4x4_t four = vld1q_f32_x4(from);
    to[0] = four.val[0];
    to[1] = four.val[1];
    to[2] = four.val[2];
    to[3] = four.val[3];
  }
  static void load_four(const Half* from, Vec (&to)[4]) {
    const uint16x8x2_t bits = vld1q_u16_x2(reinterpret_cast<const uint16_t*>(from));
    const float16x8_t low = vreinterpretq_f16_u16(bits.val[0]), high = vreinterpretq_f16_u16(bits.val[1]);
    to[0] = vcvt_f32_f16(vget_low_f16(low));
    to[1] = vcvt_high_f32_f16(low);
    to[2] = vcvt_f32_f16(vget_low_f16(high));
    to[3] = vcvt_high_f32_f16(high);
  }
  static void load_four(const Bfloat* from, Vec (&to)[4]) {
    const uint16x8x2_t bits = vld1q_u16_x2(reinterpret_cast<const uint16_t*>(from));
    to[0] = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits.val[0]), 16));
    to[1] = vreinterpretq_f32_u32(vshll_high_n_u16(bits.val[0], 16));
    to[2] = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits.val[1]), 16));
    to[3] = vreinterpretq_f32_u32(vshll_high_n_u16(bits.val[1], 16));
  }
  static void load_four(const int8_t* from, Vec (&to)[4]) {
    const int8x16_t bytes = vld1q_s8(from);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
    to[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(low)));
    to[1] = vcvtq_f32_s32(vmovl_high_s16(low));
    to[2] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(high)));
    to[3] = vcvtq_f32_s32(vmovl_high_s16(high));
  }
#else
  static constexpr int lane_factors = 1;
#endif

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

  static Vec load(const Half* from) {
    const uint16x4_t bits = vld1_u16(reinterpret_cast<const uint16_t*>(from));
#if defined(__aarch64__)
    return vcvt_f32_f16(vreinterpret_f16_u16(bits));
#else
    // Digits and exponent move to their places, and 112 more is what the exponent is larger by. Subnormal numbers lack the
    // digit that is implied then, and have one too many subtracted; infinity and NaN get the largest exponent.
    const uint32x4_t wide = vmovl_u16(bits), size = vshlq_n_u32(vandq_u32(wide, vdupq_n_u32(0x7fffu)), 13);
    const uint32x4_t sign = vshlq_n_u32(vandq_u32(wide, vdupq_n_u32(0x8000u)), 16);
    const uint32x4_t special = vcgeq_u32(size, vdupq_n_u32(0x1fu << 23)), subnormal = vcltq_u32(size, vdupq_n_u32(1u << 23));
    const uint32x4_t ordinary = vaddq_u32(size, vbslq_u32(special, vdupq_n_u32(224u << 23), vdupq_n_u32(112u << 23)));
    const Vec small = vsubq_f32(vreinterpretq_f32_u32(vorrq_u32(size, vdupq_n_u32(113u << 23))), vdupq_n_f32(0x1p-14f));
    return vreinterpretq_f32_u32(vorrq_u32(sign, vbslq_u32(subnormal, vreinterpretq_u32_f32(small), ordinary)));
#endif
  }
  static Vec load(const Bfloat* from) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16(reinterpret_cast<const uint16_t*>(from))), 16));
  }
  static Vec load(const int8_t* from) {
    const int16x8_t halves = vmovl_s8(vreinterpret_s8_u8(four_bytes(from)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(halves)));
  }

  static constexpr int transposed = 4;
  static void transpose(const float* const* rows, int column, float* to) { transpose_4x4(rows, column, 16, to); }

  static constexpr int columns_of_four = 4;
  static void transpose_four(const float* const* rows, int column, float* to) { transpose_4x4(rows, column, 4, to); }
  static Vec add(Vec a, Vec b) { return vaddq_f32(a, b); }
  static Vec sub(Vec a, Vec b) { return vsubq_f32(a, b); }
  static Vec mul(Vec a, Vec b) { return vmulq_f32(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
  static Vec accumulate(Vec a, Vec b, Vec sum) { return fma(a, b, sum); }
  static Vec max(Vec a, Vec b) { return vbslq_f32(vcgtq_f32(b, a), b, a); }  // a where b is NaN
  static Vec higher(Vec a, Vec b) {
#if defined(__aarch64__)
    return vmaxnmq_f32(a, b);
#else
    return max(a, b);
#endif
  }
  static float highest_lane(Vec a) {
    const float32x2_t two = vmax_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(vpmax_f32(two, two), 0);
  }

  static Vec first_of(Vec a, Vec b, int count) {
    static constexpr int32_t lane[4] = {0, 1, 2, 3};
    return vbslq_f32(vcltq_s32(vld1q_s32(lane), vdupq_n_s32(count)), a, b);
  }

  static bool any_above(Vec a, Vec b) {
    const uint32x4_t above = vcgtq_f32(a, b);
    const uint32x2_t two = vorr_u32(vget_low_u32(above), vget_high_u32(above));
    return vget_lane_u64(vreinterpret_u64_u32(two), 0) != 0;
  }

  static Vec min(Vec a, Vec b) { return vbslq_f32(vcltq_f32(b, a), b, a); }  // a where one is NaN

  static Vec minus_reciprocal_guess(Vec a) {
    return vreinterpretq_f32_u32(vsubq_u32(vdupq_n_u32(0xfef311c7u), vreinterpretq_u32_f32(a)));
  }

  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) { return vbslq_f32(vceqq_f32(a, b), then, otherwise); }

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
    const uint32x4_t dropped = vcltq_f32(n, vdupq_n_f32(-125.0f));  // false for NaN
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(scaled), dropped));
  }

  static Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest) {
    const uint32x4_t power = vaddq_u32(vshlq_n_u32(vreinterpretq_u32_f32(n), 23), vreinterpretq_u32_f32(bias));
    const Vec scaled = vmulq_f32(a, vreinterpretq_f32_u32(power));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(scaled), vcltq_f32(n, lowest)));
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
    uint32_t four;
    __builtin_memcpy(&four, from, sizeof four);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    four = __builtin_bswap32(four);
#endif
    return vreinterpret_u8_u32(vdup_n_u32(four));
  }

  static void transpose_4x4(const float* const* rows, int column, int stride, float* to) {
    const float32x4x2_t low = vtrnq_f32(load(rows[0] + column), load(rows[1] + column));
    const float32x4x2_t high = vtrnq_f32(load(rows[2] + column), load(rows[3] + column));
    store(to, vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0])));
    store(to + stride, vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1])));
    store(to + 2 * stride, vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0])));
    store(to + 3 * stride, vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1])));
  }
};

}  // namespace
}  // namespace attend

#undef ATTEND_NEON_LANES
