// The Helium backend's projections: Armv8.1-M with the vector extension for floats. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_HELIUM

#include "layer/linear_embedded.h"
#include "simd/helium.h"
using Isa = attend::Helium;
using Backend = attend::core::HeliumBackend;
#include "backend/linear_embedded.h"

#endif
