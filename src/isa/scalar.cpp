// Plain C++: the reference for all others, and what computes where none of them does. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_SCALAR
#define ATTEND_ISA scalar
#include "begin.h"

#include "embedded_operations.h"

namespace attend::scalar {
using Isa = EmbeddedIsa;
using RowIsa = EmbeddedRowIsa;
}  // namespace attend::scalar

#include "../attention/embedded_backend.h"
#if !ATTEND_EMBEDDED  // whose calls with options, projections and rows are sources of their own
#include "../attention/embedded_option_backend.h"
#include "../layer/backend.h"
#include "../layer/embedded_backend.h"
#endif

#include "end.h"
#endif
