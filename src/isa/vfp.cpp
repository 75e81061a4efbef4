// Armv7-M and Armv8-M with a floating-point unit: Cortex-M4, M7 and M33. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_VFP
#define ATTEND_ISA vfp
#include "begin.h"

#include "embedded_operations.h"

namespace attend::vfp {
using Isa = EmbeddedIsa;
}  // namespace attend::vfp

#include "../attention/embedded_backend.h"

#include "end.h"
#endif
