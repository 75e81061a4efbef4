// src/layers/layers_avx512vnni.cpp with emulated intrinsics, for processors that have AVX2.
#include "../../src/layers/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_AVX512
#define ATTEND_ISA avx512vnni::layers
#include "../../src/backend/begin.h"

#include "avx512_intrinsics.h"

#include "vnni.h"

#include "../../src/backend/body.h"
#include "../../src/layers/body.h"
#include "../../src/layers/integers.h"

#include "../../src/backend/end.h"
#endif
