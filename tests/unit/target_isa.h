// The operations of the vectors that this target has without being asked; x86 chooses at run time, and its tests are files of
// their own.
#pragma once

#include "../support/tested.h"

#include "../../src/isa/target.h"
#if ATTEND_TARGET_IS_HOST
#define ATTEND_TEST_ISA attend::Isa
#endif
