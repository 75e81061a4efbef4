// The kernels of integer attention of an embedded processor, by the compiler's flags.
#ifndef ATTEND_ISA_EMBEDDED_INTEGERS_H
#define ATTEND_ISA_EMBEDDED_INTEGERS_H

#include "integer_query.h"
#include "scalar/integers.h"
#if defined(__ARM_FEATURE_MVE)
#include "helium/integers.h"
#define ATTEND_EMBEDDED_INTEGER IntegerHelium
#elif defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_SIMD32) && \
    defined(__ARM_FEATURE_UNALIGNED)
#include "dsp/integers.h"
#define ATTEND_EMBEDDED_INTEGER IntegerDsp
#else
#define ATTEND_EMBEDDED_INTEGER IntegerScalar
#endif

namespace attend::ATTEND_ISA {
using EmbeddedInteger = ATTEND_EMBEDDED_INTEGER;
}

#undef ATTEND_EMBEDDED_INTEGER

#endif
