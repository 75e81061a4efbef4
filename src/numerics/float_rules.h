// The requirements of the arithmetic on the compiler, refused here where they are not met.
#pragma once

#include "compiler.h"

// GCC has a macro for each part of -ffast-math that acts on its own.
#if defined(_M_FP_FAST)
#error "attend cannot keep its bits under /fp:fast: compile src/*.cpp with /fp:precise"
#elif defined(__FAST_MATH__)
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

#if !ATTEND_GNU
static_assert(FLT_EVAL_METHOD == 0,
              "attend needs float arithmetic in float and double in double, and here more digits are kept");
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
#if ATTEND_GNU && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
