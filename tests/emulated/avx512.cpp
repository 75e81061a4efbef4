// src/backend/avx512.cpp with emulated intrinsics, for processors that have AVX2.
#include "../../src/backend/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_EMULATED  // no assembly, which would need the processor
#define ATTEND_AVX512
#define ATTEND_ISA avx512
#include "../../src/backend/begin.h"

#include "avx512_intrinsics.h"

#include "../../src/isa/avx512/set.h"

#include "../../src/backend/body.h"
#include "../../src/backend/host.h"

#include "../../src/backend/end.h"
#endif
