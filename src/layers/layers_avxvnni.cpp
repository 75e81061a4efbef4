// Layers in integers with AVX-VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_VNNI
#include "../isa/x86/on.h"
#define ATTEND_ISA avxvnni::layers
#include "../backend/begin.h"

#include "../isa/avxvnni/set.h"

#include "../backend/body.h"
#include "body.h"
#include "integers.h"

#include "../backend/end.h"
#endif
