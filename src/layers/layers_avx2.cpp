// Layers with AVX2. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#include "../isa/x86/on.h"
#define ATTEND_ISA avx2::layers
#include "../backend/begin.h"

#include "../isa/avx2/set.h"

#include "../backend/body.h"
#include "body.h"
#include "integers.h"
#include "linear.h"
#include "rows.h"

#include "../backend/end.h"
#endif
