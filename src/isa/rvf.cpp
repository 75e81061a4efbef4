// 32-bit RISC-V with a floating-point unit and without vectors. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_RVF
#define ATTEND_ISA rvf
#include "begin.h"

#include "rvf/operations.h"

namespace attend::rvf {
using Isa = Rvf;
using RowIsa = Scalar;
}  // namespace attend::rvf

#include "../attention/embedded_backend.h"
#include "../layer/backend.h"
#include "../layer/embedded_backend.h"

#include "end.h"
#endif
