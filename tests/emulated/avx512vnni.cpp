// src/isa/avx512vnni.cpp with emulated intrinsics, for processors that have AVX2.
#include "../../src/isa/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_AVX512
#define ATTEND_ISA avx512vnni
#include "../../src/isa/begin.h"

#include "avx512_intrinsics.h"

#include "../../src/isa/x86/integer_quads.h"

#include "integer_products.h"

#include "../../src/isa/avx512vnni/integers.h"

#undef IntegerQuads
#undef __asm__

namespace attend::avx512vnni {
using IntegerIsa = IntegerAvx512Vnni;
}  // namespace attend::avx512vnni

#include "../../src/attention/integer_backend.h"
#include "../../src/layer/integer_backend.h"

#include "../../src/isa/end.h"
#endif
