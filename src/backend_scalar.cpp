// The scalar backend: any target, and the reference for the others.
#include "backend/alone.h"

#include "attention/embedded.h"
#include "simd/small.h"
using Isa = attend::Small;
using Backend = attend::core::ScalarBackend;
#include "backend/embedded.h"
