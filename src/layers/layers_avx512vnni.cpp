// Layers in integers with AVX-512 VNNI. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86_AVX
#define ATTEND_AVX512
#define ATTEND_VNNI
#include "../isa/x86/on.h"
#define ATTEND_ISA avx512vnni::layers
#include "../backend/begin.h"

#include "../isa/avx512vnni/set.h"

#include "../backend/body.h"
#include "body.h"
#include "integers.h"

#include "../backend/end.h"
#endif
