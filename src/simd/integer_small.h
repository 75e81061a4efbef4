// The kernels of integer attention of an embedded processor, by the compiler's flags.
#pragma once

#if defined(__ARM_FEATURE_MVE)
#include "integer_helium.h"
namespace attend {
namespace {
using EmbeddedInteger = IntegerHelium;
}  // namespace
}  // namespace attend
#elif defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_SIMD32) && \
    defined(__ARM_FEATURE_UNALIGNED)
#include "integer_dsp.h"
namespace attend {
namespace {
using EmbeddedInteger = IntegerDsp;
}  // namespace
}  // namespace attend
#else
#include "integer_scalar.h"
namespace attend {
namespace {
using EmbeddedInteger = IntegerScalar;
}  // namespace
}  // namespace attend
#endif
