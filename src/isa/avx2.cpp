// AVX2 with FMA and F16C. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86
#include "x86/on.h"
#define ATTEND_ISA avx2
#include "begin.h"

#include "avx2/integers.h"
#include "avx2/operations.h"

namespace attend::avx2 {
using Isa = Avx2;
using RowIsa = Avx2;
using IntegerIsa = IntegerAvx2;
}  // namespace attend::avx2

#include "../attention/host_backend.h"
#include "../attention/integer_backend.h"
#include "../layer/backend.h"
#include "../layer/host_backend.h"
#include "../layer/integer_backend.h"

#include "end.h"
#endif
