// The instruction set of parts without vectors.
#pragma once

// Armv7-M and Armv8-M with a floating-point unit (and at -O0 too: its registers are enough).
#if defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA)
#include "vfp.h"
namespace attend {
namespace {
using Small = Vfp;
}
}  // namespace attend
#else
#include "scalar.h"
namespace attend {
namespace {
using Small = Scalar;
}
}  // namespace attend
#endif
