// Integers with AVX-512 F, VL, DQ, BW and VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_AVX512
#define ATTEND_VNNI
#include "../isa/x86/on.h"
#define ATTEND_ISA avx512vnni
#include "begin.h"

#include "../isa/avx512vnni/set.h"

#include "body.h"
#include "integers.h"

#include "end.h"
#endif
