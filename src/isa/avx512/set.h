// AVX-512's headers in order, and what computes with it.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../x86/transposes.h"
#include "chain.h"
#include "operations.h"
// clang-format on

using Isa = Avx512;
using RowIsa = Avx512;
}  // namespace
}  // namespace attend::ATTEND_ISA
