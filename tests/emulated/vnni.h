// The integer products of AVX-VNNI, or of AVX-512 VNNI, as they are emulated, for the source whose begin.h came before.
#include "integer_products.h"

namespace attend::ATTEND_ISA {
namespace {
#ifdef ATTEND_AVX512
#include "../../src/isa/avx512vnni/integers.h"
using IntegerIsa = IntegerAvx512Vnni;
#else
#include "../../src/isa/avxvnni/integers.h"
using IntegerIsa = IntegerAvxVnni;
#endif
}  // namespace
}  // namespace attend::ATTEND_ISA

#undef IntegerQuads
#undef __asm__
