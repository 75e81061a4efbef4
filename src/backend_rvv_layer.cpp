// The RVV backend's functions around attention: RISC-V where the compiler, Clang 19 or later, is told of the vector extension.
// Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_RVV

#include "simd/rvv.h"
using Isa = attend::Rvv;
using Backend = attend::core::RvvBackend;
#include "backend/layer.h"

#endif
