// The operations of the vectors that this target has without being asked; x86 chooses at run time, and its tests are files of
// their own.
#pragma once

#include "../support/tested.h"

#if ATTEND_NEON
#include "../../src/isa/neon/operations.h"
#define ATTEND_TEST_ISA attend::Neon
#elif ATTEND_RVV
#include "../../src/isa/rvv/operations.h"
#define ATTEND_TEST_ISA attend::Rvv
#elif ATTEND_SIMD128
#include "../../src/isa/simd128/operations.h"
#define ATTEND_TEST_ISA attend::Simd128
#elif !ATTEND_X86 && !ATTEND_EMBEDDED && !ATTEND_SCALAR
#error "attend: name the operations of this target's instruction set here, so that test_operations.cpp tests them"
#endif
