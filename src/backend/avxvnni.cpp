// Integers with AVX2 and AVX-VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_VNNI
#include "../isa/x86/on.h"
#define ATTEND_ISA avxvnni
#include "begin.h"

#include "../isa/avxvnni/set.h"

#include "body.h"
#include "integers.h"

#include "end.h"
#endif
