// The NEON backend: AArch64, and 32-bit Arm where the compiler is told of NEON with VFPv4. Compiles to nothing elsewhere.
#include "backends.h"

#if ATTEND_NEON

#include "row_block.h"
#include "simd/neon.h"

void attend::core::run_neon(const Problem& problem) { run_problem<Neon>(problem); }

#endif
