// The scalar backend's calls with options: any target, and the reference for the others.
#include "backend/alone.h"

#include "attention/embedded.h"
#include "attention/embedded_block.h"
#include "simd/small.h"
using Isa = attend::Small;
using Backend = attend::core::ScalarBackend;
#include "backend/embedded_options.h"
