// AVX-512's headers in order, and what computes with it.
// clang-format off
#include "../x86/transposes.h"
#include "chain.h"
#include "operations.h"
// clang-format on

namespace attend::ATTEND_ISA {
using Isa = Avx512;
using RowIsa = Avx512;
}  // namespace attend::ATTEND_ISA
