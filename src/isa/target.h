// The instruction set that the compiler's flags name: its headers in order, and what computes with it. Isa: attention and
// projections; RowIsa: normalisation, activations, rotary positions; IntegerIsa: integers, where the set has kernels for hosts;
// StateIsa: states of linear attention on embedded processors.
// clang-format off
#if ATTEND_NEON
#include <arm_neon.h>
#if defined(__aarch64__)
#include "neon/aarch64_rows.h"
#include "neon/chain.h"
#include "neon/lanes.h"
#include "neon/aarch64.h"
#else
#include "neon/armv7.h"
#endif
#include "neon/operations.h"
#if !ATTEND_BIG_ENDIAN
#include "neon/integer_vectors.h"
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include "neon/integer_dot.h"
#else
#include "neon/integer_widening.h"
#endif
#include "neon/integers.h"
#endif
#elif ATTEND_RVV
#include <riscv_vector.h>
#include "rvv/operations.h"
#elif ATTEND_SIMD128
#include <wasm_simd128.h>
#include "unfused/operations.h"
#include "simd128/operations.h"
#elif ATTEND_HELIUM
#include <arm_mve.h>
#include "helium/row.h"
#include "helium/groups.h"
#include "helium/tile.h"
#include "helium/operations.h"
#elif ATTEND_VFP
#include "vfp/typed.h"
#include "vfp/outputs.h"
#include "vfp/operations.h"
#include "vfp/state.h"
#elif ATTEND_RVF
#include "rvf/rows.h"
#include "rvf/operations.h"
#endif
// clang-format on

namespace attend::ATTEND_ISA {
#if ATTEND_NEON
using Isa = Neon;
using RowIsa = Neon;
#if !ATTEND_BIG_ENDIAN
using IntegerIsa = IntegerNeon;
#else
using IntegerIsa = IntegerScalar;
#endif
#elif ATTEND_RVV
using Isa = Rvv;
using RowIsa = Rvv;
#elif ATTEND_SIMD128
using Isa = Simd128;
using RowIsa = Simd128;
#elif ATTEND_HELIUM
using Isa = Helium;
using RowIsa = HeliumLayer;
using StateIsa = HeliumLayer;
#elif ATTEND_VFP
using Isa = Vfp;
using RowIsa = Scalar;
using StateIsa = VfpState;
#elif ATTEND_RVF
using Isa = Rvf;
using RowIsa = Scalar;
using StateIsa = Scalar;
#else
using Isa = Scalar;
using RowIsa = Scalar;
using StateIsa = Scalar;
#endif
}  // namespace attend::ATTEND_ISA
