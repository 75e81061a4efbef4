// The kernels of integers of an embedded processor, by the compiler's flags; plain C++ where it has no instructions for them.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#if !ATTEND_ASSEMBLY || defined(ATTEND_FIXED_REGISTERS)
using IntegerIsa = IntegerScalar;
#elif ATTEND_EMBEDDED && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include "helium/integer_softmax.h"
#include "helium/integers.h"
using IntegerIsa = IntegerHelium;
#elif ATTEND_EMBEDDED && defined(__thumb2__) && defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_UNALIGNED) && \
    !ATTEND_BIG_ENDIAN && !defined(ATTEND_ALIGNED)
#include "dsp/softmax.h"
#include "dsp/values.h"
#include "dsp/integers.h"
using IntegerIsa = IntegerDsp;
#else
using IntegerIsa = IntegerScalar;
#endif
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
