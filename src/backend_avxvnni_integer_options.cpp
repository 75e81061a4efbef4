// Integer attention with options on x86 with AVX2 and AVX-VNNI. Compiles to nothing elsewhere.
#include "backend/alone.h"

#if ATTEND_X86

#include "simd/avxvnni_on.h"  // first: all code below is for it

#include "simd/integer_avxvnni.h"
using Isa = attend::IntegerAvxVnni;
using Backend = attend::core::AvxVnniBackend;
#include "backend/integer_options.h"

#include "simd/x86_off.h"

#endif
