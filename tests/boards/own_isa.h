// The instruction set of this processor, for programs that compare its loops with their definition.
#pragma once

#include "../support/tested.h"

#include "../../src/isa/target.h"
using attend::Isa;

// a * b as it is rounded there, even where the compiler may fuse it with what follows.
inline float product(float x, float y) {
  volatile float rounded = x * y;
  return rounded;
}
