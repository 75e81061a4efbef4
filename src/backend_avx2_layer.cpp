// The AVX2 backend's functions around attention: x86 with AVX2, FMA and F16C. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_X86

#include "simd/avx2_on.h"  // first: all code below is for it

#include "simd/avx2.h"
using Isa = attend::Avx2;
using Backend = attend::core::Avx2Backend;
#include "backend/layer.h"

#include "simd/x86_off.h"

#endif
