// Linear attention with AVX2. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#include "../isa/x86/on.h"
#define ATTEND_ISA avx2::linear_attention
#include "../backend/begin.h"

#include "../isa/avx2/set.h"

#include "../backend/body.h"
#include "body.h"
#include "rules.h"

#include "../backend/end.h"
#endif
