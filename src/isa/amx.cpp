// Integers with AMX-INT8 and AVX-512 F, VL, DQ, BW and VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_AMX
#define ATTEND_AVX512
#define ATTEND_VNNI
#define ATTEND_TILES
#include "x86/on.h"
#define ATTEND_ISA amx
#include "begin.h"

#include "amx/integers.h"

namespace attend::amx {
using IntegerIsa = IntegerAmx;
}  // namespace attend::amx

#include "../attention/integer_backend.h"
#include "../layer/integer_backend.h"

#include "end.h"
#endif
