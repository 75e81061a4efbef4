// Helium with floats: Armv8.1-M, Cortex-M55 and M85. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_HELIUM
#define ATTEND_ISA helium
#include "begin.h"

#include "embedded_operations.h"

namespace attend::helium {
using Isa = EmbeddedIsa;
}  // namespace attend::helium

#include "../attention/embedded_backend.h"

#include "end.h"
#endif
