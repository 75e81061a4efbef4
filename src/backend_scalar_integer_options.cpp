// Integer attention with options of small parts and, as the reference, of the scalar backend.
#include "backend/alone.h"

#include "simd/integer_small.h"
using Isa = attend::SmallInteger;
using Backend = attend::core::ScalarBackend;
#include "backend/integer_options.h"
