// The AVX-512 backend's calls with options: x86 with AVX-512 F, VL, DQ and BW. Compiles to nothing elsewhere.
#ifdef ATTEND_BACKEND_SOURCE
#error "attend: compile each src/backend_*.cpp by itself; in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "backends.h"

#if ATTEND_X86

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push  // GCC 12 takes its own intrinsics' "undefined" operands for mistakes
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <stddef.h>
#include <stdint.h>

#include "simd/x86_intrinsics.h"  // out here: its functions name their instruction sets themselves

#define ATTEND_FMA  // from here on; compilers may not say so in a macro of theirs

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#endif

#include "attention/host.h"
#include "simd/avx512.h"

template <>
void attend::core::Entry<attend::core::Avx512Backend>::run_options(const Problem& problem, const Options& options) {
  run_with_options<Avx512, attend::core::Avx512Backend>(problem, options);
}

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif
