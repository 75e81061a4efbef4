// Integer attention with options of embedded processors and, as the reference, of the scalar backend.
#include "backend/alone.h"

#include "simd/integer_small.h"
using Isa = attend::EmbeddedInteger;
using Backend = attend::core::ScalarBackend;
#include "backend/integer_options.h"
