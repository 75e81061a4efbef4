// The scalar backend's projections: any target, and the reference for the others.
#include "backend/alone.h"

#include "layer/linear_embedded.h"
#include "simd/embedded_isa.h"
using Isa = attend::EmbeddedIsa;
using Backend = attend::core::ScalarBackend;
#include "backend/linear_embedded.h"
