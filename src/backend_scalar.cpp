// The scalar backend: any target, and the reference for the others.
#include "backend/alone.h"

#include "attention/embedded.h"
#include "simd/embedded_isa.h"
using Isa = attend::EmbeddedIsa;
using Backend = attend::core::ScalarBackend;
#include "backend/embedded.h"
