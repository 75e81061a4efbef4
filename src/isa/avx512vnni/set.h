// The headers of AVX-512 VNNI in order, and what computes integers with it.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../x86/integer_vectors.h"
#include "../x86/integers.h"
#include "../x86/integer_pairs.h"
#include "../x86/integer_quads.h"
#include "integers.h"
// clang-format on

using IntegerIsa = IntegerAvx512Vnni;
}  // namespace
}  // namespace attend::ATTEND_ISA
