// Linear attention with SSE2. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_SETS && ATTEND_GNU  // see list.h
#define ATTEND_ISA sse2::linear_attention
#include "../backend/begin.h"

#include "../isa/sse2/set.h"

#include "../backend/body.h"
#include "body.h"
#include "rules.h"

#include "../backend/end.h"
#endif
