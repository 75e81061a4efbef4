// src/isa/amx.cpp with emulated intrinsics and tiles, for processors that have AVX2.
#include "../../src/isa/list.h"

#if ATTEND_AMX
#include "../../src/isa/x86/on.h"
#define ATTEND_AVX512
#define ATTEND_ISA amx
#include "../../src/isa/begin.h"

#include "avx512_intrinsics.h"

#include "../../src/isa/amx/tiles.h"
#include "../../src/isa/x86/integer_quads.h"

#include "integer_products.h"
#include "tiles.h"

#include "../../src/isa/amx/integers.h"

#undef AmxTiles
#undef IntegerQuads
#undef __asm__

namespace attend::amx {
using IntegerIsa = IntegerAmx;
}  // namespace attend::amx

#include "../../src/attention/integer_backend.h"
#include "../../src/layer/integer_backend.h"

#include "../../src/isa/end.h"
#endif
