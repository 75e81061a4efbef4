// The kernels of integer attention of an embedded processor, by the compiler's flags.
#ifndef ATTEND_ISA_EMBEDDED_INTEGERS_H
#define ATTEND_ISA_EMBEDDED_INTEGERS_H

#include "integer_query.h"
#include "scalar/integers.h"
#if defined(__ARM_FEATURE_MVE)
#include "helium/integers.h"
#elif defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_SIMD32) && \
    defined(__ARM_FEATURE_UNALIGNED)
#include "dsp/integers.h"
#endif

namespace attend::ATTEND_ISA {
namespace {

#if defined(__ARM_FEATURE_MVE)
using EmbeddedInteger = IntegerHelium;
#elif defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_SIMD32) && \
    defined(__ARM_FEATURE_UNALIGNED)
using EmbeddedInteger = IntegerDsp;
#else
using EmbeddedInteger = IntegerScalar;
#endif

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
