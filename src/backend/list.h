// The instruction sets: which there are, which this target may compute with, and what each defines. The dispatcher, layers,
// tests and benchmarks expand the list.
//
// An instruction set is a namespace, attend::avx2 say, which the source backend/avx2.cpp fills, or target.cpp for the target's
// own: its operations, then each header of kernels and attention. It defines the members of that namespace's `Backend`.
#pragma once

#include "../numerics/float_rules.h"  // first: it refuses compilers that cannot keep the bits

#include <stddef.h>
#include <stdint.h>

#include "../../include/attend/core/attention.h"
#include "../../include/attend/core/integer.h"
#include "../../include/attend/core/options.h"
#include "../../include/attend/core/ranges.h"
#include "../../include/attend/core/segments.h"
#include "../../include/attend/core/work_memory.h"
#include "../isa/float_environment.h"

// The set of each target. Outside x86 the compiler's flags name the processor's instructions, and that decides; on x86 it is
// plain C++, and sets that are chosen at run time stand beside it. A host's form of attention has vectors and memory for copies
// of keys; where a build asks for the embedded form, plain C++ and the sets of embedded processors have it.
#if !ATTEND_ASSEMBLY
#define ATTEND_SET scalar
#elif !ATTEND_EMBEDDED && defined(__ARM_NEON) && (defined(__aarch64__) || defined(__ARM_FEATURE_FMA))
#define ATTEND_NEON 1
#define ATTEND_SET neon
#elif !ATTEND_EMBEDDED && defined(__riscv_v) && defined(__clang__) && __clang_major__ >= 19  // as rvv/operations.h needs it
#define ATTEND_RVV 1
#define ATTEND_SET rvv
#elif !ATTEND_EMBEDDED && defined(__wasm_simd128__)
#define ATTEND_SIMD128 1
#define ATTEND_SET simd128
#elif ATTEND_EMBEDDED && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && !defined(ATTEND_FIXED_REGISTERS)
#define ATTEND_HELIUM 1
#define ATTEND_SET helium
#elif ATTEND_EMBEDDED && defined(__thumb2__) && defined(__ARM_FEATURE_FMA) && !ATTEND_BIG_ENDIAN && \
    !defined(ATTEND_FIXED_REGISTERS)  // Armv7-M, Armv8-M, and R52 in Thumb state
#define ATTEND_VFP 1
#define ATTEND_SET vfp
#elif ATTEND_EMBEDDED && defined(__riscv_flen) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
#define ATTEND_RVF 1
#define ATTEND_SET rvf
#else
#define ATTEND_SET scalar
#endif
#define ATTEND_TARGET_IS_HOST (ATTEND_NEON || ATTEND_RVV || ATTEND_SIMD128)

#include "assembly.h"

// The sets of x86 that are chosen at run time. GCC for 64-bit Windows keeps values of 32 bytes and more on a stack that is
// aligned to 16, and they fault: it gets none that has such.
#define ATTEND_X86_SETS (ATTEND_X86 && !ATTEND_EMBEDDED)
#if ATTEND_X86_SETS && ATTEND_GNU && !defined(__clang__) && (defined(_WIN64) || (defined(__CYGWIN__) && defined(__x86_64__)))
#define ATTEND_X86_AVX 0
#else
#define ATTEND_X86_AVX ATTEND_X86_SETS
#endif

// The list, fastest first: calls `floats` with each set of floats, `integers` with each of integers, `both` with a set of both.
// On x86 the name is followed by what the processor must report: bits of CPUID's leaf 7 (EBX; ECX; EAX of its subleaf 1), and
// the registers that the operating system must save (XGETBV).
#if ATTEND_X86_SETS
#define ATTEND_EACH_SET(floats, integers, both) \
  ATTEND_AVX(floats, integers, both) ATTEND_SSE2(floats) floats(scalar, 0, 0, 0, 0) integers(embedded_integers, 0, 0, 0, 0)
#if ATTEND_X86_AVX
#define ATTEND_AVX(floats, integers, both)                                                                       \
  floats(avx512, ATTEND_LEAF_7_AVX512, 0, 0, 0xe6) integers(avx512vnni, ATTEND_LEAF_7_AVX512, 1u << 11, 0, 0xe6) \
      integers(avxvnni, 1u << 5, 0, 1u << 4, 0x06) both(avx2, 1u << 5, 0, 0, 0x06)
#else
#define ATTEND_AVX(floats, integers, both)
#endif
#if ATTEND_GNU  // its operations are arithmetic of vectors as GCC and Clang know it
#define ATTEND_SSE2(floats) floats(sse2, 0, 0, 0, 0)
#else
#define ATTEND_SSE2(floats)
#endif
#define ATTEND_LEAF_7_AVX512 (1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31)  // AVX2, F, DQ, BW, VL
#elif ATTEND_NEON
#define ATTEND_EACH_SET(floats, integers, both) both(ATTEND_SET, 0, 0, 0, 0)
#else
#define ATTEND_EACH_SET(floats, integers, both) floats(ATTEND_SET, 0, 0, 0, 0) integers(embedded_integers, 0, 0, 0, 0)
#endif

// What each set defines, as members of its `Backend`. Each function is one of its own, so that linkers drop what a program does
// not call. Functions that compute in floats are not inlined, also where all sources are one file: see float_environment.h.
#define ATTEND_BACKEND(isa, leaf_7_b_, leaf_7_c_, leaf_7_1_a_, registers_)                               \
  namespace isa {                                                                                        \
  struct Backend {                                                                                       \
    static constexpr const char* name = ATTEND_TEXT_OF(isa);                                             \
    static constexpr unsigned leaf_7_b = leaf_7_b_, leaf_7_c = leaf_7_c_, leaf_7_1_a = leaf_7_1_a_;      \
    static constexpr unsigned registers = registers_;                                                    \
    ATTEND_NOINLINE static void run(const core::Problem& problem);                                       \
    ATTEND_NOINLINE static void run_options(const core::Problem& problem, const core::Options& options); \
    static void run_integers(const core::Problem& problem);                                              \
    static void run_integer_options(const core::Problem& problem, const core::Options& options);         \
  };                                                                                                     \
  }
#define ATTEND_TEXT_OF(isa) ATTEND_TEXT(isa)
#define ATTEND_TEXT(isa) #isa

namespace attend {

ATTEND_EACH_SET(ATTEND_BACKEND, ATTEND_BACKEND, ATTEND_BACKEND)
#if ATTEND_NEON
ATTEND_BACKEND(embedded_integers, 0, 0, 0, 0)  // in no list: tests compare with it
#endif

namespace core {

// On x86, whether a processor can run a backend: it has the instructions, and the operating system saves their registers. The
// arguments are functions that return CPUID's leaf 1 (ECX), its leaf 7 (EBX), and the result of XGETBV, an instruction that
// exists only where leaf 1 has OSXSAVE: saved_registers is not called elsewhere.
template <class Backend, class Leaf1, class Leaf7, class Saved>
bool is_available(Leaf1 leaf_1, Leaf7 leaf_7, Saved saved_registers) {
  if constexpr (Backend::leaf_7_b == 0) {
    return true;
  } else {
    constexpr unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    constexpr unsigned basic = fma | osxsave | avx | f16c;
    return (leaf_1() & basic) == basic && (leaf_7() & Backend::leaf_7_b) == Backend::leaf_7_b &&
           (saved_registers() & Backend::registers) == Backend::registers;
  }
}

// Whether a backend's integers can be taken, where one that needs as much of leaf 7 (EBX) and of registers is active. The
// arguments return leaf 7's ECX, and EAX of its subleaf 1.
template <class Backend, class Leaf7C, class Leaf7Subleaf1>
bool has_integers(Leaf7C leaf_7_c, Leaf7Subleaf1 leaf_7_1) {
  return (Backend::leaf_7_c == 0 || (leaf_7_c() & Backend::leaf_7_c) == Backend::leaf_7_c) &&
         (Backend::leaf_7_1_a == 0 || (leaf_7_1() & Backend::leaf_7_1_a) == Backend::leaf_7_1_a);
}

template <class... Backend>
struct BackendList {};

// A list from what a macro puts a comma before.
template <class Nothing, class... Backend>
BackendList<Backend...> list_of();
#define ATTEND_LISTED(isa, ...) , isa::Backend
#define ATTEND_UNLISTED(...)
using Backends = decltype(list_of<void ATTEND_EACH_SET(ATTEND_LISTED, ATTEND_UNLISTED, ATTEND_LISTED)>());
using IntegerBackends = decltype(list_of<void ATTEND_EACH_SET(ATTEND_UNLISTED, ATTEND_LISTED, ATTEND_LISTED)>());

// Which backend is active: its place in the list.
int active_index();

// Which kernels of integer attention go with it, on x86: their place in the list of those.
int active_integer_index();

// Calls an entry point.
template <bool integers, class Function, class... Arguments>
ATTEND_ALWAYS_INLINE void call_function(Function function, const Arguments&... arguments) {
  if constexpr (integers) {
    function(arguments...);
  } else {
    in_float_environment(function, arguments...);
  }
}

// Calls EntryPoint<Backend>::function of the backend whose place in the list is index(): in the known floating-point
// environment, unless the list is said to be one of integers. Where there is one backend only, nothing is chosen, and a program
// does not link the dispatcher.
template <class List, int (*index)(), bool integers = false>
struct Active;
template <class Only, int (*index)(), bool integers>
struct Active<BackendList<Only>, index, integers> {
  template <template <class> class EntryPoint, class... Arguments>
  static void call(const Arguments&... arguments) {
    call_function<integers>(EntryPoint<Only>::function, arguments...);
  }
};
template <class First, class... Others, int (*index)(), bool integers>
struct Active<BackendList<First, Others...>, index, integers> {
  template <template <class> class EntryPoint, class... Arguments>
  static void call(const Arguments&... arguments) {
    const decltype(EntryPoint<First>::function) functions[] = {EntryPoint<First>::function, EntryPoint<Others>::function...};
    call_function<integers>(functions[index()], arguments...);
  }
};
// Name: an entry point of each backend, as a type.
#define ATTEND_ENTRY_POINT(Name, entry_point)               \
  template <class Backend>                                  \
  struct Name {                                             \
    static constexpr auto function = &Backend::entry_point; \
  };
using ActiveBackend = Active<Backends, active_index>;
using ActiveIntegerBackend = Active<IntegerBackends, active_integer_index, true>;

}  // namespace core
}  // namespace attend
