// The constants that both the headers and the compiled sources rely on.
#pragma once

#include <stddef.h>

#include "compiler.h"

#if defined(__SIZEOF_INT__) && __SIZEOF_INT__ != 4
#error "attend needs an int of 32 bits, which AVR and other small processors do not have: compile for another processor"
#elif defined(__FLT_MANT_DIG__) && (__FLT_MANT_DIG__ != 24 || __FLT_MAX_EXP__ != 128)
#error "attend needs a float of 32 bits as IEEE 754 has it: compile for another processor"
#elif defined(__DBL_MANT_DIG__) && (__DBL_MANT_DIG__ != 53 || __DBL_MAX_EXP__ != 1024)
#error "attend needs a double of 64 bits as IEEE 754 has it: drop flags that shorten it, such as -m32bit-doubles on RX"
#endif

// The sources and the C surface are GNU C++11, with a few things of C++17 that GCC and Clang take in it too, with a warning.
// The C++ surface is C++17: see shape.h.
#if ATTEND_CPLUSPLUS < 201103L
#error "attend needs C++11: compile with -std=gnu++11 or newer; its C++ surface needs -std=c++17"
#elif ATTEND_CPLUSPLUS < 201703L
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wc++14-extensions"
#pragma GCC diagnostic ignored "-Wc++17-extensions"
#endif

static_assert(sizeof(1.0) == sizeof(double), "attend: constants must be doubles: compile without -fsingle-precision-constant");
#if !ATTEND_GNU
static_assert(sizeof(int) == 4 && FLT_MANT_DIG == 24 && FLT_MAX_EXP == 128 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024,
              "attend needs an int of 32 bits, and floats and doubles as IEEE 754 has them: compile for another processor");
#endif

#if (ATTEND_GNU && (defined(__x86_64__) || defined(__i386__))) || \
    ((defined(_M_X64) || defined(_M_IX86)) && !defined(_M_ARM64EC))
#define ATTEND_X86 1
#else
#define ATTEND_X86 0
#endif

// Floats are computed by software. Where a compiler has other macros for it, the whole build must say so.
#if defined(ATTEND_SOFT_FLOAT) && ATTEND_GNU
#error "attend: leave out ATTEND_SOFT_FLOAT, which GCC and Clang tell by themselves"
#elif defined(ATTEND_SOFT_FLOAT)
#elif defined(__SOFTFP__) || (defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen)) || \
    defined(__mips_soft_float) || defined(__XTENSA_SOFT_FLOAT__) ||                                                      \
    (defined(__m68k__) && !defined(__HAVE_68881__) && !defined(__mcffpu__))
#define ATTEND_SOFT_FLOAT 1
#else
#define ATTEND_SOFT_FLOAT 0
#endif

// Doubles are computed by software; floats may be, too.
#if defined(ATTEND_SOFT_DOUBLE)
#elif ATTEND_SOFT_FLOAT || (defined(__arm__) && !(__ARM_FP & 8)) || (defined(__riscv) && __riscv_flen < 64) || \
    defined(__XTENSA__)
#define ATTEND_SOFT_DOUBLE 1
#else
#define ATTEND_SOFT_DOUBLE 0
#endif

// Embedded processors, short of memory, take the embedded form of the algorithm, hosts the other. The target alone decides,
// or the macro ATTEND_EMBEDDED, 0 or 1, for the whole build, because sizes of objects depend on it: real-time processors
// (Cortex-R) with much memory may take 0, any target 1. Other compilers take the embedded form, but for Visual C++, whose
// programs may call what clang-cl has compiled.
#if defined(ATTEND_EMBEDDED)
#elif ATTEND_X86 || defined(_M_ARM64)
#define ATTEND_EMBEDDED 0
#elif ATTEND_GNU && (defined(__aarch64__) || defined(__riscv_v) || defined(__wasm_simd128__) || \
                     (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'))
#define ATTEND_EMBEDDED 0
#else
#define ATTEND_EMBEDDED 1
#endif
// A part of the names of functions that take sizes of a form, so that a program and a library of different forms do not link.
#if ATTEND_EMBEDDED
#define ATTEND_FORM embedded_form
#else
#define ATTEND_FORM host_form
#endif

// Where a linker script has fast or large memories, these choose what goes there: attributes such as
// __attribute__((section(".itcm"))), empty unless defined for the whole build.
#ifndef ATTEND_HOT
#define ATTEND_HOT  // before functions where the time is spent
#endif
#ifndef ATTEND_HOT_DATA
#define ATTEND_HOT_DATA  // before constants that those read
#endif
#ifndef ATTEND_CACHE
#define ATTEND_CACHE  // for programs to write before their caches: ATTEND_CACHE static attend::KvCache<Wake> cache;
#endif

// For functions with loops and several statements: constexpr where it allows these, from C++14 on.
#if ATTEND_CPLUSPLUS >= 201402L
#define ATTEND_CONSTEXPR_14 constexpr
#else
#define ATTEND_CONSTEXPR_14 inline
#endif

namespace attend {
namespace detail {

struct Packing {
  char first;
  void* second;
};
static_assert(
    offsetof(Packing, second) == alignof(void*),
    "attend: members of structs must lie where the target's rules put them, here and in the compiled sources: compile "
    "without -fpack-struct, and include attend's headers outside #pragma pack");

}  // namespace detail

// Keys are summed in segments of this many absolute positions. Part of the arithmetic: it decides bits.
inline constexpr int segment_keys = 512;

// Keys are stored as panels: this many keys side by side, dimension by dimension. Part of the arithmetic too: the
// denominator has one partial sum for each key of a panel.
inline constexpr int panel_keys = 16;

// A sum is a chain of fused multiply-adds of at most this length, and then a sum of such chains: its error grows with the
// square root of the length of both. Part of the arithmetic: they decide bits.
inline constexpr int chain_dims = 16;  // in a score
inline constexpr int chain_keys = 64;  // in an output, counted by absolute positions

// Keys of a call in integers that share one maximum: positions 0-31, 32-63, … Part of the arithmetic too.
inline constexpr int integer_chunk = 32;

// The most keys that a query of such a call may see: sums of 32 bits hold no more.
inline constexpr int integer_keys = 65535;

namespace config {

// Work memory grows with these; results do not depend on them.
#if !ATTEND_EMBEDDED
inline constexpr int row_block = 384;               // query rows that share one pass over the keys
inline constexpr int option_row_block = row_block;  // the same of calls with options
inline constexpr int integer_row_block = 192;       // the same of calls in integers
inline constexpr int integer_key_block = 256;       // keys that these pack at a time, a multiple of integer_chunk
inline constexpr int integer_tile_rows = 8;         // rows of their largest tile
inline constexpr bool integer_quads = ATTEND_X86;   // Caches of integer attention keep quads (core/integer.h), not rows
inline constexpr int key_block = 64;                // keys that one pass takes at a time, a multiple of chain_keys
inline constexpr int score_keys = 128;   // from row to row of a score tile: a limit of key_block where there are several rows
inline constexpr int decode_keys = 512;  // a limit of key_block where there is one
inline constexpr int tile_rows = 12;     // rows of the largest tile of any backend
inline constexpr int row_maximum = 3;    // floats of a RowMaximum (kernel/tile_sizes.h)
inline constexpr bool embedded = ATTEND_EMBEDDED;   // no memory for copies of keys, values and sums
inline constexpr int ring_keys = 65536;             // of a RingCache, that workspaces have room for
inline constexpr int state_keys = 131072;           // of a shape without max_tokens, that a State has room for
inline constexpr int decode_stack_floats = 4096;    // decode keeps its work memory on the stack, about this much
inline constexpr size_t alignment = 64;             // of caches and workspaces: a cache line
inline constexpr int linear_tokens = 192;           // of a projection, that share one pass over the weights
inline constexpr int linear_inputs = 256;           // inputs that such a pass takes at a time, a multiple of chain_dims
inline constexpr int linear_outputs = 64;           // outputs whose weights are packed at a time, where they lie in rows
inline constexpr int layer_tokens = linear_tokens;  // tokens of a multi-head layer that are under way at a time
inline constexpr size_t linear_work_floats = size_t(linear_tokens + linear_outputs + panel_keys) * size_t(linear_inputs);
#if ATTEND_X86
inline constexpr size_t stack_bytes = 2048;
inline constexpr size_t option_stack_bytes = 3072;
#elif defined(__aarch64__)
inline constexpr size_t stack_bytes = 1792;
inline constexpr size_t option_stack_bytes = 2560;
#elif defined(__riscv_v)  // as Clang compiles it, with registers of at most 1,024 bits
inline constexpr size_t stack_bytes = 3072;
inline constexpr size_t option_stack_bytes = 4096;
#else
inline constexpr size_t stack_bytes = 2432;
inline constexpr size_t option_stack_bytes = 4096;
#endif
inline constexpr size_t call_stack_bytes = 320;
#else
#if defined(__ARM_FP) && (__ARM_FP & 4) && !(defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2))
inline constexpr int tile_rows = 2;
#elif ATTEND_SOFT_FLOAT
inline constexpr int tile_rows = 1;
#else
inline constexpr int tile_rows = 4;
#endif
inline constexpr int row_block = tile_rows;
inline constexpr int option_row_block = 16;
inline constexpr int integer_tile_rows = 2;
inline constexpr bool integer_quads = false;
inline constexpr int integer_row_block = integer_tile_rows;
inline constexpr int integer_key_block = segment_keys;
inline constexpr int key_block = chain_keys;
inline constexpr int score_keys = chain_keys;
inline constexpr int decode_keys = chain_keys;
inline constexpr int row_maximum = 1;
inline constexpr bool embedded = ATTEND_EMBEDDED;
inline constexpr int ring_keys = segment_keys;
inline constexpr int state_keys = 16 * segment_keys;
inline constexpr int decode_stack_floats = 128;
inline constexpr size_t alignment = 8;
inline constexpr int layer_tokens = 4;
inline constexpr size_t linear_work_floats = size_t(panel_keys) * chain_dims;
inline constexpr size_t stack_bytes = sizeof(void*) == 8 ? 848 : 592;
inline constexpr size_t option_stack_bytes = sizeof(void*) == 8 ? 1664 : 960;
inline constexpr size_t call_stack_bytes = 224;
#endif

#if ATTEND_EMBEDDED
inline constexpr size_t linear_stack_bytes = sizeof(void*) == 8 ? 960 : 720;
#else
inline constexpr size_t linear_stack_bytes = 7168;
#endif
#if ATTEND_EMBEDDED
inline constexpr size_t integer_stack_bytes = sizeof(void*) == 8 ? 1408 : 1024;
inline constexpr size_t integer_option_stack_bytes = sizeof(void*) == 8 ? 2176 : 1536;
#else
inline constexpr size_t integer_stack_bytes = 3072;
inline constexpr size_t integer_option_stack_bytes = 3584;
inline constexpr size_t integer_linear_stack_bytes = 10752;
#endif
inline constexpr size_t part_stack_bytes = sizeof(void*) == 8 ? 336 : 224;
inline constexpr size_t option_part_stack_bytes = sizeof(void*) == 8 ? 832 : 512;
inline constexpr size_t layer_stack_bytes = !ATTEND_EMBEDDED || sizeof(void*) == 8 ? 832 : 656;

// stack_bytes is the most stack that core::Floats::run takes on x86, Arm and RISC-V, with the backend that takes most, as GCC
// compiles it with -Os or -O2; what a host's C library takes for memset or memcpy comes on top. Tests hold it to that. What the
// functions of attention.h add is at most call_stack_bytes, and decode's work memory; what a Part adds is at most
// part_stack_bytes. option_stack_bytes is the most that core::Floats::run with options, core::Floats::finish and
// core::Floats::merge take; run_part takes at most option_part_stack_bytes more. linear_stack_bytes is the most that
// projections take, also in parts (layers/core_linear.h); on hosts they pack rows of weights on the stack where there is no
// work memory. integer_linear_stack_bytes is the most of projections in integers on hosts, layer_stack_bytes of
// layers/core_layer.h.

}  // namespace config

namespace detail {

[[gnu::always_inline]] constexpr int smaller(int a, int b) { return a < b ? a : b; }
[[gnu::always_inline]] constexpr int larger(int a, int b) { return a > b ? a : b; }

}  // namespace detail
}  // namespace attend
