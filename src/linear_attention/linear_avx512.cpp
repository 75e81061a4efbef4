// Linear attention with AVX-512. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_AVX512
#include "../isa/x86/on.h"
#define ATTEND_ISA avx512::linear_attention
#include "../backend/begin.h"

#include "../isa/avx512/set.h"

#include "../backend/body.h"
#include "body.h"
#include "rules.h"

#include "../backend/end.h"
#endif
