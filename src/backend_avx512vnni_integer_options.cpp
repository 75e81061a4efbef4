// Integer attention with options on x86 with AVX-512 F, VL, DQ, BW and VNNI. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_X86

#include "simd/avx512vnni_on.h"  // first: all code below is for it

#include "simd/integer_avx512vnni.h"
using Isa = attend::IntegerAvx512Vnni;
using Backend = attend::core::Avx512VnniBackend;
#include "backend/integer_options.h"

#include "simd/x86_off.h"

#endif
