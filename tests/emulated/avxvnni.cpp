// src/backend/avxvnni.cpp with emulated products, for processors that have AVX2.
#include "../../src/backend/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_ISA avxvnni
#include "../../src/backend/begin.h"

#include "vnni.h"

#include "../../src/backend/body.h"
#include "../../src/backend/integers.h"

#include "../../src/backend/end.h"
#endif
