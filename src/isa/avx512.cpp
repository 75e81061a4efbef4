// AVX-512 F, VL, DQ and BW. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86
#define ATTEND_AVX512
#include "x86/on.h"
#define ATTEND_ISA avx512
#include "begin.h"

#include "avx512/operations.h"

namespace attend::avx512 {
using Isa = Avx512;
using RowIsa = Avx512;
}  // namespace attend::avx512

#include "../attention/host_backend.h"
#include "../layer/backend.h"
#include "../layer/host_backend.h"

#include "end.h"
#endif
