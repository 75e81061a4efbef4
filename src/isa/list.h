// The instruction sets: which there are, which this target may compute with, and what each defines. The dispatcher, tests and
// benchmarks expand the lists at the end of this page.
//
// An instruction set is a namespace, attend::avx2 say, which the source isa/avx2.cpp fills: its operations, then every header
// of numerics, kernel, attention and layer compiled for it. What it defines are the members of that namespace's `Backend`.
#pragma once

#include "../numerics/float_rules.h"  // first: it refuses compilers that cannot keep the bits

#include "../../include/attend/core/attention.h"
#include "../../include/attend/core/integer.h"
#include "../../include/attend/core/layer.h"
#include "../../include/attend/core/linear.h"
#include "../../include/attend/core/options.h"
#include "float_environment.h"

// Outside x86 the compiler's flags name the processor's instructions, and that decides.
#if defined(__ARM_NEON) && (defined(__aarch64__) || defined(__ARM_FEATURE_FMA))
#define ATTEND_NEON 1
#elif defined(__riscv_v) && defined(__clang__) && __clang_major__ >= 19  // has what rvv/operations.h is made of
#define ATTEND_RVV 1
#elif defined(__wasm_simd128__)
#define ATTEND_SIMD128 1
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define ATTEND_HELIUM 1
#elif ATTEND_EMBEDDED && defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    defined(__ARM_FEATURE_FMA)  // Armv7-M and Armv8-M with a floating-point unit
#define ATTEND_VFP 1
#elif ATTEND_EMBEDDED && defined(__riscv_flen) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)
#define ATTEND_RVF 1
#else
#define ATTEND_SCALAR 1
#endif

// Calls a macro with the name of each activation, and of each number format.
#define ATTEND_EACH_ACTIVATION(call) \
  call(relu) call(silu) call(gelu) call(gelu_tanh) call(sigmoid) call(tanh) call(exp) call(erf)
#define ATTEND_EACH_FORMAT(call) call(float32) call(float16) call(bfloat16) call(int8) call(int4)

namespace attend {

// A source whose namespace has no Backend finds this one, which is in no list: the assertion about lists then says what to do.
struct Backend;

// Each instruction set: its name, and on x86 the bits of CPUID's leaf 7 (EBX) and the registers that it needs. A set of
// integers alone is chosen where `Float` could be, if leaf 7 has further bits (ECX, and EAX of its part 1).
namespace scalar {
struct Backend {
  static constexpr const char* name = "scalar";
  static constexpr unsigned instructions = 0, registers = 0;
#include "entry_points.h"
};
}  // namespace scalar
namespace sse2 {
struct Backend {
  static constexpr const char* name = "sse2";
  static constexpr unsigned instructions = 0, registers = 0;
#include "entry_points.h"
};
}  // namespace sse2
namespace avx2 {
struct Backend {
  static constexpr const char* name = "avx2";
  static constexpr unsigned instructions = 1u << 5, registers = 0x06;
#include "entry_points.h"
};
}  // namespace avx2
namespace avx512 {
struct Backend {
  static constexpr const char* name = "avx512";
  static constexpr unsigned instructions = 1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // AVX2, F, DQ, BW, VL
  static constexpr unsigned registers = 0xe6;
#include "entry_points.h"
};
}  // namespace avx512
namespace avxvnni {
struct Backend {
  static constexpr const char* name = "avxvnni";
  using Float = avx2::Backend;
  static constexpr unsigned leaf_7_c = 0, leaf_7_1_a = 1u << 4;
#include "entry_points.h"
};
}  // namespace avxvnni
namespace avx512vnni {
struct Backend {
  static constexpr const char* name = "avx512vnni";
  using Float = avx512::Backend;
  static constexpr unsigned leaf_7_c = 1u << 11, leaf_7_1_a = 0;
#include "entry_points.h"
};
}  // namespace avx512vnni
namespace embedded_integers {
struct Backend {
  using Float = scalar::Backend;
  static constexpr unsigned leaf_7_c = 0, leaf_7_1_a = 0;
#include "entry_points.h"
};
}  // namespace embedded_integers
namespace embedded_integer_options {
struct Backend {
#include "entry_points.h"
};
}  // namespace embedded_integer_options
#if ATTEND_EMBEDDED
namespace embedded_options {
struct Backend {
#include "entry_points.h"
};
}  // namespace embedded_options
namespace embedded_linear {
struct Backend {
#include "entry_points.h"
};
}  // namespace embedded_linear
namespace embedded_rows {
struct Backend {
#include "entry_points.h"
};
}  // namespace embedded_rows
#endif
namespace neon {
struct Backend {
  static constexpr const char* name = "neon";
#include "entry_points.h"
};
}  // namespace neon
namespace rvv {
struct Backend {
  static constexpr const char* name = "rvv";
#include "entry_points.h"
};
}  // namespace rvv
namespace simd128 {
struct Backend {
  static constexpr const char* name = "simd128";
#include "entry_points.h"
};
}  // namespace simd128
namespace helium {
struct Backend {
  static constexpr const char* name = "helium";
#include "entry_points.h"
};
}  // namespace helium
namespace vfp {
struct Backend {
  static constexpr const char* name = "vfp";
#include "entry_points.h"
};
}  // namespace vfp
namespace rvf {
struct Backend {
  static constexpr const char* name = "rvf";
#include "entry_points.h"
};
}  // namespace rvf

namespace core {

// On x86, whether a processor can run a backend: it has the instructions, and the operating system saves their registers. The
// arguments are functions that return CPUID's leaf 1 (ECX), its leaf 7 (EBX), and the result of XGETBV, an instruction that
// exists only where leaf 1 has OSXSAVE: saved_registers is not called elsewhere.
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

// The same of a backend of integers alone, where `Float` is available. leaf_7_1 returns EAX of part 1.
template <class Backend, class Leaf7C, class Leaf7Part1>
bool has_integers(Leaf7C leaf_7_c, Leaf7Part1 leaf_7_1) {
  return (Backend::leaf_7_c == 0 || (leaf_7_c() & Backend::leaf_7_c) == Backend::leaf_7_c) &&
         (Backend::leaf_7_1_a == 0 || (leaf_7_1() & Backend::leaf_7_1_a) == Backend::leaf_7_1_a);
}

template <class... Backend>
struct BackendList {};

// Whether a list has a backend. Backends ask it of the lists below, so that one that stands in none does not compile.
template <class List, class Backend>
struct Has {
  static constexpr bool value = false;
};
template <class... Others, class Backend>
struct Has<BackendList<Backend, Others...>, Backend> {
  static constexpr bool value = true;
};
template <class First, class... Others, class Backend>
struct Has<BackendList<First, Others...>, Backend> : Has<BackendList<Others...>, Backend> {};

// The list: the instruction sets of this target, fastest first. Only x86 has a choice to make.
#if ATTEND_X86
using Backends = BackendList<avx512::Backend, avx2::Backend, sse2::Backend, scalar::Backend>;
using IntegerBackends = BackendList<avx512vnni::Backend, avxvnni::Backend, avx2::Backend, embedded_integers::Backend>;
#else
using Backends = BackendList<
#if ATTEND_NEON
    neon::Backend
#elif ATTEND_RVV
    rvv::Backend
#elif ATTEND_SIMD128
    simd128::Backend
#elif ATTEND_HELIUM
    helium::Backend
#elif ATTEND_VFP
    vfp::Backend
#elif ATTEND_RVF
    rvf::Backend
#else
    scalar::Backend
#endif
    >;
#if ATTEND_NEON
using IntegerBackends = Backends;
#else
using IntegerBackends = BackendList<embedded_integers::Backend>;
#endif
#endif

// The same for calls with options, in the same places, because one index chooses in both lists.
template <class Isa>
struct WithOptions {
  using Backend = Isa;
};
template <>
struct WithOptions<embedded_integers::Backend> {
  using Backend = embedded_integer_options::Backend;
};
template <class... Isa>
BackendList<typename WithOptions<Isa>::Backend...> with_options(BackendList<Isa...>);
using IntegerOptionBackends = decltype(with_options(IntegerBackends()));

// Calls with options, projections, and what else layers have: embedded processors link a source for each.
#if ATTEND_EMBEDDED
using OptionBackends = BackendList<embedded_options::Backend>;
using LinearBackends = BackendList<embedded_linear::Backend>;
using RowBackends = BackendList<embedded_rows::Backend>;
#else
using OptionBackends = Backends;
using LinearBackends = Backends;
using RowBackends = Backends;
#endif

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

// Calls Operation<Backend>::function of the backend whose place in the list is index(): in the known floating-point
// environment, unless the list is said to be one of integers. Where there is one backend only, nothing is chosen, and a program
// does not link the dispatcher.
template <class List, int (*index)(), bool integers = false>
struct Active;
template <class Only, int (*index)(), bool integers>
struct Active<BackendList<Only>, index, integers> {
  template <template <class> class Operation, class... Arguments>
  static void call(const Arguments&... arguments) {
    call_function<integers>(Operation<Only>::function, arguments...);
  }
};
template <class First, class... Others, int (*index)(), bool integers>
struct Active<BackendList<First, Others...>, index, integers> {
  template <template <class> class Operation, class... Arguments>
  static void call(const Arguments&... arguments) {
    const decltype(Operation<First>::function) functions[] = {Operation<First>::function, Operation<Others>::function...};
    call_function<integers>(functions[index()], arguments...);
  }
};
// Name: the operation that is an entry point of each backend.
#define ATTEND_OPERATION(Name, entry_point)                 \
  template <class Backend>                                  \
  struct Name {                                             \
    static constexpr auto function = &Backend::entry_point; \
  };
using ActiveBackend = Active<Backends, active_index>;
using ActiveOptionBackend = Active<OptionBackends, active_index>;
using ActiveLinearBackend = Active<LinearBackends, active_index>;
using ActiveRowBackend = Active<RowBackends, active_index>;
using ActiveIntegerBackend = Active<IntegerBackends, active_integer_index, true>;
using ActiveIntegerOptionBackend = Active<IntegerOptionBackends, active_integer_index, true>;

}  // namespace core
}  // namespace attend
