// The AVX-512 backend's functions around attention: x86 with AVX-512 F, VL, DQ and BW. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_X86

#include "simd/avx512_on.h"  // first: all code below is for it

#include "simd/avx512.h"
using Isa = attend::Avx512;
using Backend = attend::core::Avx512Backend;
#include "backend/layer.h"

#include "simd/x86_off.h"

#endif
