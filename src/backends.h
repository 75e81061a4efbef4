// The entry points of each backend, and the lists that the dispatcher chooses from.
#pragma once

#include "numerics/float_rules.h"  // first: it stops compilers that will not do, and governs the arithmetic in headers of intrinsics too

#include "../include/attend/core.h"
#include "../include/attend/core_integer.h"
#include "../include/attend/core_linear.h"
#include "../include/attend/core_options.h"

// Outside x86 the compiler's flags decide, because they describe the processor.
#if defined(__ARM_NEON) && (defined(__aarch64__) || defined(__ARM_FEATURE_FMA))
#define ATTEND_NEON 1
#else
#define ATTEND_NEON 0
#endif
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define ATTEND_HELIUM 1
#else
#define ATTEND_HELIUM 0
#endif
// Clang from 19 on has what simd/rvv.h is made of; other compilers' RISC-V takes the scalar backend.
#if defined(__riscv_v) && defined(__clang__) && __clang_major__ >= 19
#define ATTEND_RVV 1
#else
#define ATTEND_RVV 0
#endif

namespace attend {
namespace core {

// The entry points of a backend. backend_<isa>.cpp defines the first two and, for hosts, the third (combine_scalar.cpp has that
// of embedded processors); backend_<isa>_options.cpp defines the fourth and, for hosts, the fifth (combine_scalar_options.cpp).
// So a program holds only what it calls.
template <class Backend>
struct Entry {
  // Computes a problem.
  static void run(const Problem& problem);
  // Makes the sums of one segment, for a problem of at most segment_keys keys, which its output takes undivided, with the
  // denominator and the maximum after each row.
  static void sum_segment(const Problem& problem);
  // Writes the output of a problem from the sums of all its segments (attention/combine.h).
  static void combine(const Problem& problem, const float* partials);
  // Computes a problem with options.
  static void run_options(const Problem& problem, const Options& options);
  // As combine, of a problem with options (attention/combine_options.h).
  static void combine_options(const Problem& problem, const Options& options, const float* partials);
};

// The projections of a backend, by the format of the weights; backend_<isa>_linear.cpp defines them.
template <class Backend>
struct Projections {
  static void float32(const Linear& linear);
  static void float16(const Linear& linear);
  static void bfloat16(const Linear& linear);
  static void int8(const Linear& linear);
};

// A backend: its name; whose `combine` and `combine_options` it uses; on x86 the bits of CPUID leaf 7 (EBX) and the registers
// that it needs.
struct ScalarBackend {
  static constexpr const char* name = "scalar";
  using Combining = ScalarBackend;
  static constexpr unsigned instructions = 0, registers = 0;
};
struct NeonBackend {
  static constexpr const char* name = "neon";
  using Combining = NeonBackend;
};
struct RvvBackend {
  static constexpr const char* name = "rvv";
  using Combining = RvvBackend;
};
struct HeliumBackend {
  static constexpr const char* name = "helium";
  using Combining = ScalarBackend;
};
struct Avx2Backend {
  static constexpr const char* name = "avx2";
  using Combining = Avx2Backend;
  static constexpr unsigned instructions = 1u << 5, registers = 0x06;
};
struct Avx512Backend {
  static constexpr const char* name = "avx512";
  using Combining = Avx512Backend;
  static constexpr unsigned instructions = 1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // AVX2, F, DQ, BW, VL
  static constexpr unsigned registers = 0xe6;
};

// On x86, whether a processor can run a backend: it has the instructions, and the operating system saves their registers. What
// functions say: CPUID's leaf 1 (ECX) and leaf 7 (EBX), and XGETBV, which exists only where leaf 1 has OSXSAVE and is not
// called elsewhere.
template <class Backend, class Leaf1, class Leaf7, class Saved>
bool is_available(Leaf1 leaf_1, Leaf7 leaf_7, Saved saved_registers) {
  if constexpr (Backend::instructions == 0) {
    return true;
  } else {
    constexpr unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    constexpr unsigned basic = fma | osxsave | avx | f16c;
    return (leaf_1() & basic) == basic && (leaf_7() & Backend::instructions) == Backend::instructions &&
           (saved_registers() & Backend::registers) == Backend::registers;
  }
}

// Kernels of integer attention have instructions beyond those of float32 that only some processors have: where they are chosen,
// the backend `Float` could be too, and CPUID's leaf 7 has bits of its own for them (ECX, and EAX of its part 1).
struct Avx512VnniBackend {
  static constexpr const char* name = "avx512vnni";
  using Float = Avx512Backend;
  static constexpr unsigned leaf_7_c = 1u << 11, leaf_7_1_a = 0;
};
struct AvxVnniBackend {
  static constexpr const char* name = "avxvnni";
  using Float = Avx2Backend;
  static constexpr unsigned leaf_7_c = 0, leaf_7_1_a = 1u << 4;
};

template <class... Backend>
struct BackendList {};

// The backends of this target, fastest first. Only x86 has a choice to make.
#if ATTEND_NEON
using Backends = BackendList<NeonBackend>;
#elif ATTEND_RVV
using Backends = BackendList<RvvBackend>;
#elif ATTEND_HELIUM
using Backends = BackendList<HeliumBackend>;
#elif ATTEND_X86
using Backends = BackendList<Avx512Backend, Avx2Backend, ScalarBackend>;
#else
using Backends = BackendList<ScalarBackend>;
#endif

// The entry points of a backend of integer attention; backend_<isa>_integer.cpp defines the first,
// backend_<isa>_integer_options.cpp the second.
template <class Backend>
struct IntegerEntry {
  static void run(const IntegerProblem& problem);
  static void run_options(const IntegerProblem& problem, const IntegerOptions& options);
};

// The kernels of integer attention of this target, fastest first; dispatch.cpp chooses.
#if ATTEND_X86
using IntegerBackends = BackendList<Avx512VnniBackend, AvxVnniBackend, Avx2Backend, ScalarBackend>;
#elif ATTEND_NEON
using IntegerBackends = BackendList<NeonBackend>;
#else
using IntegerBackends = BackendList<ScalarBackend>;
#endif

// With the active backend; core.h has the others.
void sum_segment(const Problem& problem);

// Which backend is active: its place in the list.
int active_index();

// Which kernels of integer attention go with it, on x86: their place in the list of those.
int active_integer_index();

// Calls Operation<Backend>::function of the backend whose place in the list `index` returns. Where there is one backend only,
// nothing is chosen, and a program does not link the dispatcher.
template <class List, int (*index)()>
struct Active;
template <class Only, int (*index)()>
struct Active<BackendList<Only>, index> {
  template <template <class> class Operation, class... Arguments>
  static void call(const Arguments&... arguments) {
    Operation<Only>::function(arguments...);
  }
};
template <class First, class... Others, int (*index)()>
struct Active<BackendList<First, Others...>, index> {
  template <template <class> class Operation, class... Arguments>
  static void call(const Arguments&... arguments) {
    const decltype(Operation<First>::function) functions[] = {Operation<First>::function, Operation<Others>::function...};
    functions[index()](arguments...);
  }
};
using ActiveBackend = Active<Backends, active_index>;
using ActiveIntegerBackend = Active<IntegerBackends, active_integer_index>;

}  // namespace core
}  // namespace attend
