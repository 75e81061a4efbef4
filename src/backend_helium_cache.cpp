// The Helium backend's calls over caches with a window. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "attention/embedded_block.h"
#include "simd/helium.h"
using Isa = attend::Helium;
using Backend = attend::core::HeliumBackend;
#include "backend/embedded_cache.h"

#endif
