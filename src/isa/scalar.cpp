// Plain C++: the reference for all others, and what computes where none of them does. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_SCALAR
#define ATTEND_ISA scalar
#include "begin.h"

#include "scalar/operations.h"

namespace attend::scalar {
using Isa = Scalar;
using RowIsa = Scalar;
}  // namespace attend::scalar

#include "../attention/embedded_backend.h"
#include "../layer/backend.h"
#include "../layer/embedded_backend.h"

#include "end.h"
#endif
