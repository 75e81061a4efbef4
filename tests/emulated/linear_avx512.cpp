// src/linear_attention/linear_avx512.cpp with emulated intrinsics, for processors that have AVX2.
#include "../../src/linear_attention/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_EMULATED  // no assembly, which would need the processor
#define ATTEND_AVX512
#define ATTEND_ISA avx512::linear_attention
#include "../../src/backend/begin.h"

#include "avx512_intrinsics.h"

#include "../../src/isa/avx512/set.h"

#include "../../src/backend/body.h"
#include "../../src/linear_attention/body.h"
#include "../../src/linear_attention/rules.h"

#include "../../src/backend/end.h"
#endif
