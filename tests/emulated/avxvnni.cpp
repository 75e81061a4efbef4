// src/isa/avxvnni.cpp with emulated products, for processors that have AVX2.
#include "../../src/isa/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_ISA avxvnni
#include "../../src/isa/begin.h"

#include "../../src/isa/x86/integer_quads.h"

#include "integer_products.h"

#include "../../src/isa/avxvnni/integers.h"

#undef IntegerQuads
#undef __asm__

namespace attend::avxvnni {
using IntegerIsa = IntegerAvxVnni;
}  // namespace attend::avxvnni

#include "../../src/attention/integer_backend.h"
#include "../../src/layer/integer_backend.h"

#include "../../src/isa/end.h"
#endif
