// src/layers/layers_avxvnni.cpp with emulated products, for processors that have AVX2.
#include "../../src/layers/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_ISA avxvnni::layers
#include "../../src/backend/begin.h"

#include "integer_products.h"

namespace attend::avxvnni::layers {
namespace {
#include "../../src/isa/avxvnni/integers.h"
using IntegerIsa = IntegerAvxVnni;
}  // namespace
}  // namespace attend::avxvnni::layers

#undef IntegerQuads
#undef __asm__

#include "../../src/backend/body.h"
#include "../../src/layers/body.h"
#include "../../src/layers/integers.h"

#include "../../src/backend/end.h"
#endif
