// Switches AVX2, FMA, F16C and AVX-VNNI on, until end.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../x86/intrinsics.h"  // as in avx2/on.h

#define ATTEND_FMA

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avxvnni")
#endif
