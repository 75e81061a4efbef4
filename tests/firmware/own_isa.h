// The instruction set of this processor, for programs that compare its loops with their definition.
#pragma once

#if ATTEND_HELIUM
#include "../../src/isa/helium/operations.h"
using Isa = attend::Helium;
#elif ATTEND_VFP
#include "../../src/isa/vfp/operations.h"
using Isa = attend::Vfp;
#elif ATTEND_RVF
#include "../../src/isa/rvf/operations.h"
using Isa = attend::Rvf;
#else
#include "../../src/isa/scalar/operations.h"
using Isa = attend::Scalar;
#endif

// a * b as it is rounded there, even where the compiler may fuse it with what follows.
inline float product(float x, float y) {
  volatile float rounded = x * y;
  return rounded;
}
