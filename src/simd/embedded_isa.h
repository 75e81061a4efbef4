// The instruction set of an embedded processor, by the compiler's flags.
#pragma once

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#include "helium.h"
namespace attend {
namespace {
using EmbeddedIsa = Helium;
}  // namespace
}  // namespace attend
#elif defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA)
// Armv7-M and Armv8-M with a floating-point unit (also at -O0: the assembly fits the registers).
#include "vfp.h"
namespace attend {
namespace {
using EmbeddedIsa = Vfp;
}  // namespace
}  // namespace attend
#elif defined(__riscv_flen) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)  // 16 registers are too few
#include "rvf.h"
namespace attend {
namespace {
using EmbeddedIsa = Rvf;
}  // namespace
}  // namespace attend
#else
#include "scalar.h"
namespace attend {
namespace {
using EmbeddedIsa = Scalar;
}  // namespace
}  // namespace attend
#endif
