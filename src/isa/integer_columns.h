// Some columns of a state of linear attention in integers side by side, as numbers of 32 bits: one in plain C++, with Helium
// four, of which `count` may be fewer.
#if ATTEND_ASSEMBLY && ATTEND_EMBEDDED && !ATTEND_BIG_ENDIAN && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include <arm_mve.h>
#define ATTEND_HELIUM_COLUMNS 1
#endif

namespace attend::ATTEND_ISA {
namespace {

struct PlainColumns {
  using Vec = int32_t;
  using Gate = uint32_t;
  static constexpr int lanes = 1;
  static constexpr bool is_small = ATTEND_THUMB1 && code_is_small;  // where flash counts more than time
  // Vectors that pass together, as many as registers have room for.
  template <bool decays, bool adds>
  static constexpr int most() {
    return is_small ? 1 : ATTEND_THUMB1 && decays && adds ? 2 : 4;
  }

  ATTEND_ALWAYS_INLINE static Vec load(const int32_t* from, int /*count*/) { return *from; }
  ATTEND_ALWAYS_INLINE static void store(int32_t* to, Vec a, int /*count*/) { *to = a; }
  ATTEND_ALWAYS_INLINE static Vec load(const int8_t* from, int /*count*/) { return *from; }
  ATTEND_ALWAYS_INLINE static void store(int8_t* to, Vec a, int /*count*/) { *to = int8_t(a); }
  ATTEND_ALWAYS_INLINE static Vec zero() { return 0; }
  ATTEND_ALWAYS_INLINE static Gate gate(uint32_t a) { return a; }
  // x * a / 2^15 rounded down, where x is negative of -x - 1, whose sign comes back: so -1 stays -1. |x| < 2^30, a <= 2^15.
  ATTEND_ALWAYS_INLINE static Vec decayed(Vec x, Gate a) {
    const int32_t sign = x >> 31;
#if defined(__arm__) && !defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
    // The same is ((x - sign) * a + sign) / 2^15, here by two halves of x, whose products have 32 bits.
    const uint32_t low = ((uint32_t(x) & 0xffffu) - uint32_t(sign)) * a + uint32_t(sign);
    return int32_t(uint32_t(x >> 16) * a << 1) + (int32_t(low) >> 15);
#else
    return int32_t(uint32_t(uint64_t(uint32_t(x ^ sign) << 1) * (a << 16) >> 32)) ^ sign;
#endif
  }
  ATTEND_ALWAYS_INLINE static Vec add_product(Vec sum, Vec a, int32_t factor) { return sum + factor * a; }
  ATTEND_ALWAYS_INLINE static Vec shifted(Vec a, int32_t right) { return a >> right; }
  ATTEND_ALWAYS_INLINE static Vec high_product(Vec a, int32_t b) { return ATTEND_ISA::high_product(a, b); }
  ATTEND_ALWAYS_INLINE static Vec smaller(Vec a, int32_t b) { return smaller_of_numbers(a, b); }
  ATTEND_ALWAYS_INLINE static Vec clamped(Vec a, int32_t low, int32_t high) { return ATTEND_ISA::clamped(a, low, high); }
  ATTEND_ALWAYS_INLINE static int32_t all_bits(Vec a) { return a; }
};

#if ATTEND_HELIUM_COLUMNS
struct HeliumColumns {
  using Vec = int32x4_t;
  using Gate = int32_t;
  static constexpr int lanes = 4;
  static constexpr bool is_small = false;
  template <bool decays, bool adds>
  static constexpr int most() {
    return adds ? 2 : 4;
  }

  static mve_pred16_t first(int count) { return vctp32q(uint32_t(count)); }
  ATTEND_ALWAYS_INLINE static Vec load(const int32_t* from, int count) {
    return count == lanes ? vldrwq_s32(from) : vldrwq_z_s32(from, first(count));
  }
  ATTEND_ALWAYS_INLINE static void store(int32_t* to, Vec a, int count) {
    count == lanes ? vstrwq_s32(to, a) : vstrwq_p_s32(to, a, first(count));
  }
  ATTEND_ALWAYS_INLINE static Vec load(const int8_t* from, int count) {
    return count == lanes ? vldrbq_s32(from) : vldrbq_z_s32(from, first(count));
  }
  ATTEND_ALWAYS_INLINE static void store(int8_t* to, Vec a, int count) {
    count == lanes ? vstrbq_s32(to, a) : vstrbq_p_s32(to, a, first(count));
  }
  ATTEND_ALWAYS_INLINE static Vec zero() { return vdupq_n_s32(0); }
  // size * a / 2^15 rounded down is size less size * (2^15 - a) / 2^15 rounded up: a negative factor of 32 bits for any a.
  ATTEND_ALWAYS_INLINE static Gate gate(uint32_t a) { return int32_t((a - (1u << 15)) << 16); }
  ATTEND_ALWAYS_INLINE static Vec decayed(Vec x, Gate a) {
    const Vec sign = vshrq_n_s32(x, 31), size = veorq_s32(x, sign);
    return veorq_s32(vqdmlahq_n_s32(size, size, a), sign);
  }
  ATTEND_ALWAYS_INLINE static Vec add_product(Vec sum, Vec a, int32_t factor) { return vmlaq_n_s32(sum, a, factor); }
  ATTEND_ALWAYS_INLINE static Vec shifted(Vec a, int32_t right) { return vshlq_r_s32(a, -right); }
  ATTEND_ALWAYS_INLINE static Vec high_product(Vec a, int32_t b) { return vmulhq_s32(a, vdupq_n_s32(b)); }
  ATTEND_ALWAYS_INLINE static Vec smaller(Vec a, int32_t b) { return vminq_s32(a, vdupq_n_s32(b)); }
  ATTEND_ALWAYS_INLINE static Vec clamped(Vec a, int32_t low, int32_t high) {
    return vmaxq_s32(smaller(a, high), vdupq_n_s32(low));
  }
  ATTEND_ALWAYS_INLINE static int32_t all_bits(Vec a) {
    return vgetq_lane_s32(a, 0) | vgetq_lane_s32(a, 1) | vgetq_lane_s32(a, 2) | vgetq_lane_s32(a, 3);
  }
};
using Columns = HeliumColumns;
#else
using Columns = PlainColumns;
#endif

}  // namespace
}  // namespace attend::ATTEND_ISA
