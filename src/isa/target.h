// The instruction set that the compiler's flags name: its headers in order, and what computes with it. Isa: attention and
// projections; RowIsa: normalisation, activations, rotary positions; IntegerIsa: integers, where the set has kernels for hosts;
// StateIsa: states of linear attention on embedded processors.
#if ATTEND_NEON
#include <arm_neon.h>
#elif ATTEND_RVV
#include <riscv_vector.h>
#elif ATTEND_SIMD128
#include <wasm_simd128.h>
#elif ATTEND_HELIUM
#include <arm_mve.h>
#endif

namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#if ATTEND_NEON
#if defined(__aarch64__)
#include "neon/aarch64_rows.h"
#include "neon/chain.h"
#include "neon/lanes.h"
#include "neon/aarch64.h"
#else
#include "neon/armv7.h"
#endif
#include "neon/operations.h"
using Isa = Neon;
using RowIsa = Neon;
#if !ATTEND_BIG_ENDIAN
#include "neon/integer_vectors.h"
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include "neon/integer_dot.h"
#else
#include "neon/integer_widening.h"
#endif
#include "neon/integers.h"
using IntegerIsa = IntegerNeon;
#else
using IntegerIsa = IntegerScalar;
#endif
#elif ATTEND_RVV
#include "rvv/operations.h"
using Isa = Rvv;
using RowIsa = Rvv;
#elif ATTEND_SIMD128
#include "unfused/operations.h"
#include "simd128/operations.h"
using Isa = Simd128;
using RowIsa = Simd128;
#elif ATTEND_HELIUM
#include "helium/row.h"
#include "helium/groups.h"
#include "helium/tile.h"
#include "helium/operations.h"
using Isa = Helium;
using RowIsa = HeliumLayer;
using StateIsa = HeliumLayer;
#elif ATTEND_VFP
#include "vfp/typed.h"
#include "vfp/outputs.h"
#include "vfp/operations.h"
#include "vfp/state.h"
using Isa = Vfp;
using RowIsa = Scalar;
using StateIsa = VfpState;
#else
#if ATTEND_RVF
#include "rvf/rows.h"
#include "rvf/operations.h"
using Isa = Rvf;
#else
using Isa = Scalar;
#endif
using RowIsa = Scalar;
using StateIsa = Scalar;
#endif
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
