// SSE2, for x86 processors without fused multiply-add. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_X86
#define ATTEND_ISA sse2
#include "begin.h"

#include "sse2/operations.h"

namespace attend::sse2 {
using Isa = Sse2;
using RowIsa = Sse2;
}  // namespace attend::sse2

#include "../attention/host_backend.h"
#include "../layer/backend.h"
#include "../layer/host_backend.h"

#include "end.h"
#endif
