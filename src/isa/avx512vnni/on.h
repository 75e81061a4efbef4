// Switches AVX-512 F, VL, DQ, BW and VNNI on, until end.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../x86/intrinsics.h"  // as in avx2/on.h

#define ATTEND_FMA
#define ATTEND_AVX512  // for x86/integer_vectors.h

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512vnni"))), \
                             apply_to = function)
#elif defined(__GNUC__)
#pragma GCC diagnostic push  // as in avx512/on.h
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512vnni")
#endif
