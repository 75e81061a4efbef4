// The requirements of the arithmetic on the compiler, refused here where they are not met.
#pragma once

#if !defined(__GNUC__) && !defined(__clang__)
#error "attend: compile src/*.cpp with GCC or Clang (in Visual Studio: clang-cl, the platform toolset LLVM); cl.exe cannot"
#endif

// GCC has a macro for each part of -ffast-math that acts on its own.
#if defined(__FAST_MATH__)
#error "attend cannot keep its bits under -ffast-math, -Ofast or -ffp-model=fast: compile src/*.cpp with -fno-fast-math"
#elif defined(__ASSOCIATIVE_MATH__)
#error "attend cannot keep its bits under -funsafe-math-optimizations or -fassociative-math: compile src/*.cpp without"
#elif defined(__RECIPROCAL_MATH__)
#error "attend cannot keep its bits under -freciprocal-math: compile src/*.cpp with -fno-reciprocal-math"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0
#error "attend cannot keep its bits under -ffinite-math-only: compile src/*.cpp with -fno-finite-math-only"
#elif defined(__NO_SIGNED_ZEROS__)
#error "attend cannot keep its bits under -fno-signed-zeros: compile src/*.cpp with -fsigned-zeros"
#endif

// Clang has a macro for all of them together alone, and from version 20 on none for -ffp-model=fast. But it can be told, here,
// not to act on any; where a target does not know the first line, at least not to bring sums into another order.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wignored-pragmas"
#pragma float_control(precise, on)
#pragma clang fp contract(off) reassociate(off)
#if __clang_major__ >= 18
#pragma clang fp reciprocal(off)
#endif
#pragma clang diagnostic pop
#endif

// A method other than 0 keeps digits that a float or a double does not have. GCC says 0 for a 68040, whose registers keep
// larger exponents all the same.
#if defined(__m68k__) && defined(__HAVE_68881__)
#error "attend needs float arithmetic in float, and the FPU of m68k keeps more than that: compile src/*.cpp with -msoft-float"
#elif defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#if defined(__i386__) || defined(__x86_64__)
#error "attend needs float arithmetic in float: on 32-bit x86 compile src/*.cpp with -msse2 -mfpmath=sse (clang-cl: /arch:SSE2)"
#else
#error "attend needs float arithmetic in float and double in double, and here more digits are kept: try -msoft-float"
#endif
#endif

// GCC takes the length of an array for a conversion where it is a template parameter of type int.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

// Asks for a loop of constant length to be unrolled whole, so that a tile's sums live in registers at every level above -O0.
#if defined(__clang__)
#define ATTEND_UNROLL _Pragma("unroll")
#else
#define ATTEND_UNROLL _Pragma("GCC unroll 16")
#endif

// Keeps a function out of its callers: their registers and stack are free for something else then.
#define ATTEND_NOINLINE __attribute__((noinline))

// Puts a function into its callers, however many there are: it works with their registers. Without optimisation nothing is
// gained, and GCC would ask for exception handling around what it inlines. The same for a lambda, after its parameters: at -Os
// it would be a function, and what it captures would live in memory.
#if defined(__GNUC__) && defined(__OPTIMIZE__)
#define ATTEND_ALWAYS_INLINE inline __attribute__((always_inline))
#define ATTEND_INLINE_LAMBDA __attribute__((always_inline))
#else
#define ATTEND_ALWAYS_INLINE inline
#define ATTEND_INLINE_LAMBDA
#endif
