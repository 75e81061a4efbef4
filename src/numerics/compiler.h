// The part of core/compiler.h that only the sources need.
#pragma once

#include "../../include/attend/core/compiler.h"

#if ATTEND_GNU
// Whether a result does not fit its type; the last argument points to it, where it fits.
#define ATTEND_MUL_OVERFLOW __builtin_mul_overflow
#define ATTEND_ADD_OVERFLOW __builtin_add_overflow
#define ATTEND_SUB_OVERFLOW __builtin_sub_overflow
#define ATTEND_EXPECT __builtin_expect
#define ATTEND_UNREACHABLE() __builtin_unreachable()
#define ATTEND_LEADING_ZEROS __builtin_clz  // a call where no instruction counts them
// Hides a value, or memory, from the optimiser. Shapes the code of GCC and Clang, and changes no result.
#define ATTEND_HIDE(value) __asm__("" : "+r"(value))
#define ATTEND_HIDE_IN_ORDER(value) __asm__ volatile("" : "+r"(value))
#define ATTEND_HIDE_MEMORY() __asm__ volatile("" ::: "memory")
#else
#define ATTEND_MUL_OVERFLOW detail::multiply_overflows
#define ATTEND_ADD_OVERFLOW detail::add_overflows
#define ATTEND_SUB_OVERFLOW detail::subtract_overflows
#define ATTEND_EXPECT(condition, usual) (condition)
#define ATTEND_UNREACHABLE() ((void)0)
#define ATTEND_HIDE(value) ((void)0)
#define ATTEND_HIDE_IN_ORDER(value) ((void)0)
#define ATTEND_HIDE_MEMORY() ((void)0)
#endif

#if !ATTEND_GNU && defined(_MSC_VER)
extern "C" long _InterlockedCompareExchange(long volatile*, long, long);
#pragma intrinsic(_InterlockedCompareExchange)
#endif

namespace attend {
namespace detail {

#if ATTEND_GNU

// 16 bits that lie where numbers of another type were.
using AliasedInt16 = int16_t __attribute__((may_alias));

// Four bytes of memory as a number, the first one lowest.
[[gnu::always_inline]] inline uint32_t little_endian(uint32_t word) {
  return ATTEND_BIG_ENDIAN ? __builtin_bswap32(word) : word;
}

// Numbers that threads share.
[[gnu::always_inline]] inline unsigned read_shared(const unsigned* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
[[gnu::always_inline]] inline void write_shared(unsigned* at, unsigned number) {
  __atomic_store_n(at, number, __ATOMIC_RELAXED);
}
[[gnu::always_inline]] inline void replace_shared(unsigned* at, unsigned before, unsigned number) {
  __atomic_compare_exchange_n(at, &before, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#else

class AliasedInt16 {  // which is copied: optimisers may take int16_t and int32_t for different memory
 public:
  operator int16_t() const {
    int16_t number;
    memcpy(&number, bytes_, sizeof number);
    return number;
  }
  AliasedInt16& operator=(int16_t number) { return memcpy(bytes_, &number, sizeof number), *this; }

 private:
  unsigned char bytes_[sizeof(int16_t)];
};

inline uint32_t little_endian(uint32_t word) {
  unsigned char bytes[4];
  memcpy(bytes, &word, sizeof bytes);
  return uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 | uint32_t(bytes[3]) << 24;
}

#if defined(_MSC_VER)
inline unsigned read_shared(const unsigned* at) { return *static_cast<const volatile unsigned*>(at); }
inline void write_shared(unsigned* at, unsigned number) { *static_cast<volatile unsigned*>(at) = number; }
inline void replace_shared(unsigned* at, unsigned before, unsigned number) {
  _InterlockedCompareExchange(reinterpret_cast<volatile long*>(at), long(number), long(before));
}
#endif

inline bool multiply_overflows(ptrdiff_t a, ptrdiff_t b, ptrdiff_t* to) {
  if (a == 0 || b == 0) return *to = 0, false;
  if (a > 0 ? (b > 0 ? a > PTRDIFF_MAX / b : b < PTRDIFF_MIN / a) : (b > 0 ? a < PTRDIFF_MIN / b : b < PTRDIFF_MAX / a))
    return true;
  return *to = a * b, false;
}
inline bool add_overflows(ptrdiff_t a, ptrdiff_t b, ptrdiff_t* to) {
  if (b > 0 ? a > PTRDIFF_MAX - b : a < PTRDIFF_MIN - b) return true;
  return *to = a + b, false;
}
inline bool add_overflows(uintptr_t a, uintptr_t b, uintptr_t* to) { return *to = a + b, *to < a; }
inline bool subtract_overflows(ptrdiff_t a, ptrdiff_t b, ptrdiff_t* to) {
  if (b < 0 ? a > PTRDIFF_MAX + b : a < PTRDIFF_MIN + b) return true;
  return *to = a - b, false;
}

#endif

}  // namespace detail
}  // namespace attend
