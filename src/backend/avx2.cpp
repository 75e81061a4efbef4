// AVX2 with FMA and F16C. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#include "../isa/x86/on.h"
#define ATTEND_ISA avx2
#include "begin.h"

#include "../isa/avx2/set.h"

#include "body.h"
#include "host.h"
#include "integers.h"

#include "end.h"
#endif
