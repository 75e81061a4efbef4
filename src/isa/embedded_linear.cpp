// Projections for embedded processors; embedded_options.cpp says why they are a source.
#include "list.h"

#if ATTEND_EMBEDDED
#define ATTEND_ISA embedded_linear
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_linear {
using Isa = EmbeddedIsa;
}  // namespace attend::embedded_linear

#include "../layer/embedded_backend.h"

#include "end.h"

#define ATTEND_ISA embedded_known_linear
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_known_linear {
using Isa = EmbeddedIsa;
}  // namespace attend::embedded_known_linear

#include "../layer/embedded_known_linear.h"

#include "end.h"
#endif
