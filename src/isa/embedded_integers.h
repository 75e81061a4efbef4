// The kernels of integer attention of an embedded processor, as the compiler's flags say.
#ifndef ATTEND_ISA_SCALAR_EMBEDDED_INTEGERS_H
#define ATTEND_ISA_SCALAR_EMBEDDED_INTEGERS_H

#if defined(__ARM_FEATURE_MVE)
#include "helium/integers.h"
namespace attend::ATTEND_ISA {
namespace {
using EmbeddedInteger = IntegerHelium;
}  // namespace
}  // namespace attend::ATTEND_ISA
#elif defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_SIMD32) && \
    defined(__ARM_FEATURE_UNALIGNED)
#include "dsp/integers.h"
namespace attend::ATTEND_ISA {
namespace {
using EmbeddedInteger = IntegerDsp;
}  // namespace
}  // namespace attend::ATTEND_ISA
#else
#include "scalar/integers.h"
namespace attend::ATTEND_ISA {
namespace {
using EmbeddedInteger = IntegerScalar;
}  // namespace
}  // namespace attend::ATTEND_ISA
#endif

#endif
