// The Helium backend's functions around attention: Armv8.1-M with the vector extension for floats. Compiles to nothing
// elsewhere.
#include "backend/alone.h"

#if ATTEND_HELIUM

#include "simd/helium_layer.h"
using Isa = attend::HeliumLayer;
using Backend = attend::core::HeliumBackend;
#include "backend/layer.h"

#endif
