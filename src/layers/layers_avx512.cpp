// Layers with AVX-512. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_AVX512
#include "../isa/x86/on.h"
#define ATTEND_ISA avx512::layers
#include "../backend/begin.h"

#include "../isa/avx512/set.h"

#include "../backend/body.h"
#include "body.h"
#include "linear.h"
#include "rows.h"

#include "../backend/end.h"
#endif
