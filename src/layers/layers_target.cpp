// Layers with the instruction set that the compiler's flags name: see backend/target.cpp. Where attention has the form for
// embedded processors, projections are sources of their own.
#include "list.h"

#define ATTEND_ISA ATTEND_SET::layers
#include "../backend/begin.h"

#include "../isa/target.h"

#include "../backend/body.h"
#include "body.h"
#include "rows.h"
#if ATTEND_TARGET_IS_HOST
#include "linear.h"
#endif
#if ATTEND_NEON
#include "integers.h"
#endif

#include "../backend/end.h"
