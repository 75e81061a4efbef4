// WebAssembly with vectors. Compiles to nothing elsewhere.
#include "list.h"

#if ATTEND_SIMD128
#define ATTEND_ISA simd128
#include "begin.h"

#include "simd128/operations.h"

namespace attend::simd128 {
using Isa = Simd128;
using RowIsa = Simd128;
}  // namespace attend::simd128

#include "../attention/host_backend.h"
#include "../layer/backend.h"
#include "../layer/host_backend.h"

#include "end.h"
#endif
