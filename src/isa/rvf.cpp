// 32-bit RISC-V with a floating-point unit and without vectors. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_RVF
#define ATTEND_ISA rvf
#include "begin.h"

#include "embedded_operations.h"

namespace attend::rvf {
using Isa = EmbeddedIsa;
}  // namespace attend::rvf

#include "../attention/embedded_backend.h"

#include "end.h"
#endif
