// The floating-point environments that a caller may be in, by the bits of the target's register. Freestanding. The first is the
// usual one, and where there is none but that, or the library was told to keep the caller's, it is the only one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attend/core/config.h"

namespace attend_test {

struct FloatEnvironment {
  const char* name;
  uint32_t bits;
};

// Whether vectors flush subnormal numbers whatever is set: 32-bit NEON, Helium.
#if defined(__arm__) && (defined(__ARM_NEON) || (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)))
constexpr bool always_flushes = true;
#else
constexpr bool always_flushes = false;
#endif

#if defined(ATTEND_KEEP_FLOAT_ENVIRONMENT) || ATTEND_SOFT_FLOAT
constexpr FloatEnvironment float_environments[] = {{"usual", 0}};
inline uint32_t float_register() { return 0; }
inline void set_float_register(uint32_t) {}
constexpr uint32_t environment_bits = 0;
#elif ATTEND_X86
constexpr FloatEnvironment float_environments[] = {{"usual", 0x1f80},
                                                   {"upward", 0x5f80},
                                                   {"downward", 0x3f80},
                                                   {"towards zero", 0x7f80},
                                                   {"flush to zero, denormals are zero", 0x9fc0},
                                                   {"exceptions trap", 0}};
constexpr uint32_t environment_bits = 0xffc0;
inline uint32_t float_register() {
  uint32_t bits;
  __asm__ volatile("stmxcsr %0" : "=m"(bits) : : "memory");
  return bits;
}
inline void set_float_register(uint32_t bits) { __asm__ volatile("ldmxcsr %0" : : "m"(bits) : "memory"); }
#elif defined(__aarch64__) || defined(__arm__)
constexpr FloatEnvironment float_environments[] = {{"usual", 0},
                                                   {"upward", 0x00400000},
                                                   {"downward", 0x00800000},
                                                   {"towards zero", 0x00c00000},
                                                   {"flush to zero, default NaN, alternative halves", 0x07000000}};
constexpr uint32_t environment_bits = 0x07c00000;
inline uint32_t float_register() {
#if defined(__aarch64__)
  uint64_t bits;
  __asm__ volatile("mrs %0, fpcr" : "=r"(bits) : : "memory");
#else
  uint32_t bits;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(bits) : : "memory");
#endif
  return uint32_t(bits);
}
inline void set_float_register(uint32_t bits) {
#if defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(uint64_t(bits)) : "memory");
#else
  __asm__ volatile("vmsr fpscr, %0" : : "r"(bits) : "memory");
#endif
}
#elif defined(__riscv)
constexpr FloatEnvironment float_environments[] = {
    {"usual", 0}, {"towards zero", 1}, {"downward", 2}, {"upward", 3}, {"to the nearest, ties away from zero", 4}};
constexpr uint32_t environment_bits = 7;
inline uint32_t float_register() {
  uint32_t bits;
  __asm__ volatile("frrm %0" : "=r"(bits) : : "memory");
  return bits;
}
inline void set_float_register(uint32_t bits) { __asm__ volatile("fsrm %0" : : "r"(bits) : "memory"); }
#elif defined(__s390x__)
constexpr FloatEnvironment float_environments[] = {
    {"usual", 0}, {"towards zero", 1}, {"upward", 2}, {"downward", 3}, {"exceptions trap", 0xf8000000}};
constexpr uint32_t environment_bits = 0xf8000007;
inline uint32_t float_register() {
  uint32_t bits;
  __asm__ volatile("efpc %0" : "=r"(bits) : : "memory");
  return bits;
}
inline void set_float_register(uint32_t bits) { __asm__ volatile("sfpc %0" : : "r"(bits) : "memory"); }
#else
constexpr FloatEnvironment float_environments[] = {{"usual", 0}};
constexpr uint32_t environment_bits = 0;
inline uint32_t float_register() { return 0; }
inline void set_float_register(uint32_t) {}
#endif
constexpr int float_environment_count = int(sizeof float_environments / sizeof float_environments[0]);

// Calls work() in an environment, and then restores the one before. Whether work() has left it as it found it.
template <class Work>
__attribute__((noinline)) bool in_environment(const FloatEnvironment& environment, const Work& work) {
  const uint32_t before = float_register();
  set_float_register((before & ~environment_bits) | environment.bits);
  work();
  const bool kept = (float_register() & environment_bits) == environment.bits;
  set_float_register(before);
  return kept;
}

}  // namespace attend_test
