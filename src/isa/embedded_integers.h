// The kernels of integers of an embedded processor, by the compiler's flags; plain C++ where it has no instructions for them.
// clang-format off
#if !ATTEND_ASSEMBLY || defined(ATTEND_FIXED_REGISTERS)
namespace attend::ATTEND_ISA {
using IntegerIsa = IntegerScalar;
}
#elif ATTEND_EMBEDDED && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include "helium/integer_softmax.h"
#include "helium/integers.h"
namespace attend::ATTEND_ISA {
using IntegerIsa = IntegerHelium;
}
#elif ATTEND_EMBEDDED && defined(__thumb2__) && defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_UNALIGNED) && \
    !ATTEND_BIG_ENDIAN && !defined(ATTEND_ALIGNED)
#include "dsp/softmax.h"
#include "dsp/values.h"
#include "dsp/integers.h"
// clang-format on
namespace attend::ATTEND_ISA {
using IntegerIsa = IntegerDsp;
}
#else
namespace attend::ATTEND_ISA {
using IntegerIsa = IntegerScalar;
}
#endif
