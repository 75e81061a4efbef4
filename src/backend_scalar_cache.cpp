// The scalar backend's calls over caches with a window, on small parts. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_EMBEDDED && !ATTEND_HELIUM

#include "attention/embedded.h"
#include "attention/embedded_block.h"
#include "simd/small.h"
using Isa = attend::Small;
using Backend = attend::core::ScalarBackend;
#include "backend/embedded_cache.h"

#endif
