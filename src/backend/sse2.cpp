// SSE2, for x86 processors without fused multiply-add. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_SETS && ATTEND_GNU  // see list.h
#define ATTEND_ISA sse2
#include "begin.h"

#include "../isa/sse2/set.h"

#include "body.h"
#include "host.h"

#include "end.h"
#endif
