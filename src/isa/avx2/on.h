// Switches AVX2, FMA and F16C on, until end.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../x86/intrinsics.h"  // before the switch: its functions name their instruction sets themselves

#define ATTEND_FMA  // from here on; compilers may not say so in a macro of theirs

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
