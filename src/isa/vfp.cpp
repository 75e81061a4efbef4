// Armv7-M and Armv8-M with a floating-point unit: Cortex-M4, M7 and M33. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_VFP
#define ATTEND_ISA vfp
#include "begin.h"

#include "vfp/operations.h"

namespace attend::vfp {
using Isa = Vfp;
using RowIsa = Scalar;
}  // namespace attend::vfp

#include "../attention/embedded_backend.h"
#include "../layer/backend.h"
#include "../layer/embedded_backend.h"

#include "end.h"
#endif
