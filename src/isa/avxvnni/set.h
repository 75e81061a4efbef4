// The headers of AVX-VNNI in order, and what computes integers with it.
// clang-format off
#include "../x86/integer_vectors.h"
#include "../x86/integers.h"
#include "../x86/integer_pairs.h"
#include "../x86/integer_quads.h"
#include "integers.h"
// clang-format on

namespace attend::ATTEND_ISA {
using IntegerIsa = IntegerAvxVnni;
}
