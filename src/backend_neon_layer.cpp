// The NEON backend's functions around attention: AArch64, and 32-bit Arm where the compiler is told of NEON with VFPv4.
// Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_NEON

#include "simd/neon.h"
using Isa = attend::Neon;
using Backend = attend::core::NeonBackend;
#include "backend/layer.h"

#endif
