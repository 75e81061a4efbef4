// src/isa/avx512.cpp with emulated intrinsics, for processors that have AVX2.
#include "../../src/isa/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_AVX512
#define ATTEND_ISA avx512
#include "../../src/isa/begin.h"

#include "../../src/isa/whole_chains.h"
#undef ATTEND_WHOLE_CHAINS  // assembly, which would need the processor

#include "avx512_intrinsics.h"

#include "../../src/isa/avx512/operations.h"

namespace attend::avx512 {
using Isa = Avx512;
using RowIsa = Avx512;
}  // namespace attend::avx512

#include "../../src/attention/host_backend.h"
#include "../../src/layer/backend.h"
#include "../../src/layer/host_backend.h"

#include "../../src/isa/end.h"
#endif
