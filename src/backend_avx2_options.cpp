// The AVX2 backend's calls with options: x86 with AVX2, FMA and F16C. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_X86

#include <stddef.h>
#include <stdint.h>

#include "simd/x86_intrinsics.h"  // out here: its functions name their instruction sets themselves

#define ATTEND_FMA  // from here on; compilers may not say so in a macro of theirs

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

#include "attention/host.h"
#include "simd/avx2.h"

template <>
void attend::core::Entry<attend::core::Avx2Backend>::run_options(const Problem& problem, const Options& options) {
  run_with_options<Avx2, attend::core::Avx2Backend>(problem, options);
}

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif
