// AVX2's headers in order, and what computes with it: floats, rows of floats, and integers.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../x86/transposes.h"
#include "operations.h"
#include "chain.h"

#include "../x86/integer_vectors.h"
#include "../x86/integers.h"
#include "../x86/integer_pairs.h"
#include "integers.h"
// clang-format on

using Isa = Avx2;
using RowIsa = Avx2;
using IntegerIsa = IntegerAvx2;
}  // namespace
}  // namespace attend::ATTEND_ISA
