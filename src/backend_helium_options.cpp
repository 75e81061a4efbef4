// The Helium backend's calls with options: Armv8.1-M with the vector extension for floats. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_HELIUM

#include "attention/embedded.h"
#include "simd/helium.h"
using Isa = attend::Helium;
using Backend = attend::core::HeliumBackend;
#include "backend/embedded_options.h"

#endif
