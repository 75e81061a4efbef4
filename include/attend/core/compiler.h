// All that differs between compilers, and why it is there. What the arithmetic asks of them is in src/numerics/float_rules.h,
// what the target decides in config.h; an instruction set's own assembly stands with the set. What only the sources need of
// this page is in src/numerics/compiler.h.
//
// GCC and Clang, and compilers that claim to be one of them, get the kernels of instruction sets. Visual C++ gets those of x86
// that intrinsics can say. Every other compiler of ISO C++17 computes the same bits from plain C++.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define ATTEND_GNU 1
#else
#define ATTEND_GNU 0
#include <float.h>
#include <string.h>  // memcpy and memset, which every program of this library may call
#endif

// Assembly as GCC and Clang write it. A build without it (-DATTEND_NO_ASSEMBLY) tests on x86 what Visual C++ compiles.
#if ATTEND_GNU && !defined(ATTEND_NO_ASSEMBLY)
#define ATTEND_ASSEMBLY 1
#else
#define ATTEND_ASSEMBLY 0
#endif

// Without -mno-unaligned-access, ATTEND_ALIGNED has to keep GCC from joining bytes of structs and arrays to words.
#if defined(ATTEND_ALIGNED) && defined(__ARM_FEATURE_UNALIGNED)
#if defined(__clang__)
#error "attend: ATTEND_ALIGNED needs -mno-unaligned-access with Clang, which otherwise makes words of bytes at any address"
#endif
#pragma GCC optimize("no-store-merging,no-tree-slp-vectorize,no-tree-loop-vectorize,no-tree-loop-distribute-patterns")
#pragma GCC optimize("no-expensive-optimizations")
#endif

// Visual C++ says 199711 in __cplusplus unless it is told otherwise.
#if defined(_MSVC_LANG)
#define ATTEND_CPLUSPLUS _MSVC_LANG
#elif defined(__cplusplus)
#define ATTEND_CPLUSPLUS __cplusplus
#else
#define ATTEND_CPLUSPLUS 0
#endif

// ATTEND_UNROLL asks for a loop of constant length to be unrolled whole, so that a tile's sums live in registers above -O0.
#if defined(__clang__)
#define ATTEND_UNROLL _Pragma("unroll")
#elif ATTEND_GNU
#define ATTEND_UNROLL _Pragma("GCC unroll 16")
#else
#define ATTEND_UNROLL
#endif

// ATTEND_NOINLINE keeps a function out of its callers: their registers and stack are free for something else then.
// ATTEND_ALWAYS_INLINE puts a function into its callers, however many there are: it works with their registers. Without
// optimisation nothing is gained, and GCC would ask for exception handling around what it inlines. ATTEND_INLINE_LAMBDA is the
// same for a lambda, after its parameters: at -Os it would be a function, and what it captures would live in memory;
// ATTEND_INLINE_AT_ALL_LEVELS is so without optimisation, too.
//
// [[gnu::always_inline]] on functions of headers has another reason: no copy with the instructions of one backend must be what
// the linker keeps for others. Compilers that ignore it put no such instructions into functions without intrinsics.
#if ATTEND_GNU
#define ATTEND_NOINLINE __attribute__((noinline))
#define ATTEND_INLINE_AT_ALL_LEVELS __attribute__((always_inline))
#else
#define ATTEND_INLINE_AT_ALL_LEVELS
#endif
#if ATTEND_GNU && defined(__OPTIMIZE__)
#define ATTEND_ALWAYS_INLINE inline __attribute__((always_inline))
#define ATTEND_INLINE_LAMBDA __attribute__((always_inline))
#elif !ATTEND_GNU && defined(_MSC_VER)
#pragma warning(disable : 4068 5030)  // pragmas and attributes that it does not know
#define ATTEND_NOINLINE __declspec(noinline)
#define ATTEND_ALWAYS_INLINE __forceinline
#define ATTEND_INLINE_LAMBDA
#else
#define ATTEND_ALWAYS_INLINE inline
#define ATTEND_INLINE_LAMBDA
#if !ATTEND_GNU
#define ATTEND_NOINLINE
#endif
#endif

#if ATTEND_GNU
// Builtins need no header, which a board may lack, and are folded also where -ffreestanding says that memcpy may be any
// function. Macros, because GCC takes the operands of functions in another order, and because hints must stand in the caller.
#define ATTEND_MEMCPY __builtin_memcpy
#define ATTEND_MEMSET __builtin_memset
#define ATTEND_INFINITY __builtin_inff()
#define ATTEND_PREFETCH __builtin_prefetch
#define ATTEND_TRAP() __builtin_trap()
#define ATTEND_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#else
#define ATTEND_MEMCPY memcpy
#define ATTEND_MEMSET memset
#define ATTEND_INFINITY detail::infinity()
#define ATTEND_PREFETCH detail::prefetch
#define ATTEND_TRAP() detail::stay()
// Only vectors ask for it, here those of x86. ISO C++17 has no macro for it, and two that are not defined are equal.
#define ATTEND_BIG_ENDIAN 0
#endif

#if !ATTEND_GNU && defined(_MSC_VER)
extern "C" long _InterlockedExchange(long volatile*, long);
#pragma intrinsic(_InterlockedExchange)
#endif

namespace attend {
namespace detail {

#if ATTEND_GNU

// A number that threads share. Where the processor cannot exchange, it is one core: interrupts return first.
[[gnu::always_inline]] inline uint32_t exchange(volatile uint32_t* at, uint32_t number) {
  if (__atomic_always_lock_free(sizeof number, nullptr)) return __atomic_exchange_n(at, number, __ATOMIC_ACQ_REL);
  const uint32_t old = *at;
  *at = number;
  return old;
}

#else

inline float infinity() {
  const uint32_t bits = 0x7f800000u;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

// Where a debugger or a watchdog finds the program.
[[noreturn]] inline void stay() {
  for (const volatile int still = 0;;) (void)still;
}

inline void prefetch(const void* /*address*/, int /*writes*/ = 0, int /*level*/ = 3) {}

#if defined(_MSC_VER)
inline uint32_t exchange(volatile uint32_t* at, uint32_t number) {
  return uint32_t(_InterlockedExchange(reinterpret_cast<volatile long*>(at), long(number)));
}
#else  // for one core, as above
inline uint32_t exchange(volatile uint32_t* at, uint32_t number) {
  const uint32_t old = *at;
  *at = number;
  return old;
}
#endif

#endif

// Whether the compiler computes a constant, with its own rounding; yes where it does not say.
constexpr bool is_constant() {
#if (defined(__clang__) && __clang_major__ >= 9) || (!defined(__clang__) && ATTEND_GNU && __GNUC__ >= 9) || \
    (!ATTEND_GNU && defined(_MSC_VER) && _MSC_VER >= 1925)
  return __builtin_is_constant_evaluated();
#else
  return true;
#endif
}

}  // namespace detail
}  // namespace attend
