// Integers with AVX2 and AVX-VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86
#define ATTEND_VNNI
#include "x86/on.h"
#define ATTEND_ISA avxvnni
#include "begin.h"

#include "avxvnni/integers.h"

namespace attend::avxvnni {
using IntegerIsa = IntegerAvxVnni;
}  // namespace attend::avxvnni

#include "../attention/integer_backend.h"
#include "../layer/integer_backend.h"

#include "end.h"
#endif
