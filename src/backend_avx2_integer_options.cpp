// Integer attention with options on x86 with AVX2. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_X86

#include "simd/avx2_on.h"  // first: all code below is for it

#include "simd/integer_avx2.h"
using Isa = attend::IntegerAvx2;
using Backend = attend::core::Avx2Backend;
#include "backend/integer_options.h"

#include "simd/x86_off.h"

#endif
