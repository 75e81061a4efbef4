// SSE2's headers in order, and what computes with it.
#include "../x86/intrinsics.h"

namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../unfused/operations.h"
#include "chain.h"
#include "operations.h"
// clang-format on

using Isa = Sse2;
using RowIsa = Sse2;
}  // namespace
}  // namespace attend::ATTEND_ISA
