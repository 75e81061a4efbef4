// Integer attention with options on Arm's NEON.
#include "backend/alone.h"

#if ATTEND_NEON
#include "simd/integer_neon.h"
using Isa = attend::IntegerNeon;
using Backend = attend::core::NeonBackend;
#include "backend/integer_options.h"
#endif
