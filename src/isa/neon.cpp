// NEON: AArch64, and 32-bit Arm where the compiler's flags name NEON with VFPv4. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_NEON
#define ATTEND_ISA neon
#include "begin.h"

#include "neon/integers.h"
#include "neon/operations.h"

namespace attend::neon {
using Isa = Neon;
using RowIsa = Neon;
using IntegerIsa = IntegerNeon;
}  // namespace attend::neon

#include "../attention/host_backend.h"
#include "../attention/integer_backend.h"
#include "../layer/backend.h"
#include "../layer/host_backend.h"
#include "../layer/integer_backend.h"

#include "end.h"
#endif
