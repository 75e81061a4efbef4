// The instruction set that the compiler's flags name: see list.h. On x86 it is plain C++, the reference for all others.
#include "list.h"

#define ATTEND_ISA ATTEND_SET
#include "begin.h"

#include "../isa/target.h"

#include "body.h"
#if ATTEND_TARGET_IS_HOST
#include "host.h"
#else
#include "embedded.h"
#endif
#if ATTEND_NEON
#include "integers.h"
#endif

#include "end.h"
