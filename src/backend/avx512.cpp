// AVX-512 F, VL, DQ and BW. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_AVX512
#include "../isa/x86/on.h"
#define ATTEND_ISA avx512
#include "begin.h"

#include "../isa/avx512/set.h"

#include "body.h"
#include "host.h"

#include "end.h"
#endif
