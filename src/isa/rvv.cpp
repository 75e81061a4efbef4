// The vector extension of RISC-V, with Clang 19 or later. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_RVV
#define ATTEND_ISA rvv
#include "begin.h"

#include "rvv/operations.h"

namespace attend::rvv {
using Isa = Rvv;
using RowIsa = Rvv;
}  // namespace attend::rvv

#include "../attention/host_backend.h"
#include "../layer/backend.h"
#include "../layer/host_backend.h"

#include "end.h"
#endif
