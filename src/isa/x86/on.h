// Switches the instructions of an x86 source on, until end.h: AVX2, FMA and F16C, and what the source has named before:
// ATTEND_AVX512 for AVX-512 F, VL, DQ and BW; ATTEND_VNNI for the integer products of either, AVX-VNNI or AVX-512 VNNI.
#include <stddef.h>
#include <stdint.h>

#include "intrinsics.h"  // before the switch: its functions name their instruction sets themselves

#define ATTEND_FMA  // from here on; compilers may not say so in a macro of theirs

#if defined(__clang__)
#if defined(ATTEND_AVX512) && defined(ATTEND_VNNI)
#define ATTEND_TARGET "avx2,fma,f16c,avx512f,avx512vl,avx512dq,avx512bw,avx512vnni"
#elif defined(ATTEND_AVX512)
#define ATTEND_TARGET "avx2,fma,f16c,avx512f,avx512vl,avx512dq,avx512bw"
#elif defined(ATTEND_VNNI)
#define ATTEND_TARGET "avx2,fma,f16c,avxvnni"
#else
#define ATTEND_TARGET "avx2,fma,f16c"
#endif
#pragma clang attribute push(__attribute__((target(ATTEND_TARGET))), apply_to = function)
#undef ATTEND_TARGET
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#if defined(ATTEND_AVX512)
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 takes its own intrinsics' "undefined" operands for mistakes
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw")
#endif
#if defined(ATTEND_VNNI) && defined(ATTEND_AVX512)
#pragma GCC target("avx512vnni")
#elif defined(ATTEND_VNNI)
#pragma GCC target("avxvnni")
#endif
#endif
