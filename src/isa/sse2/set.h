// SSE2's headers in order, and what computes with it.
// clang-format off
#include "../x86/intrinsics.h"

#include "../unfused/operations.h"
#include "chain.h"
#include "operations.h"
// clang-format on

namespace attend::ATTEND_ISA {
using Isa = Sse2;
using RowIsa = Sse2;
}  // namespace attend::ATTEND_ISA
