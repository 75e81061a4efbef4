// Integers with AVX-512 F, VL, DQ, BW and VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86
#define ATTEND_AVX512
#define ATTEND_VNNI
#include "x86/on.h"
#define ATTEND_ISA avx512vnni
#include "begin.h"

#include "avx512vnni/integers.h"

namespace attend::avx512vnni {
using IntegerIsa = IntegerAvx512Vnni;
}  // namespace attend::avx512vnni

#include "../attention/integer_backend.h"
#include "../layer/integer_backend.h"

#include "end.h"
#endif
