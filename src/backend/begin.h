// Begins what is compiled for one instruction set, in the namespace ATTEND_ISA, which the source names before: numbers, and
// what operations are made of. The source's own operations follow (isa/<set>/set.h), then body.h, its entry points, and end.h.
//
// These headers have neither guards nor includes nor a namespace: each stands behind what it uses in this list and in that of
// body.h, in the namespace that the list opens. Every instruction set takes both lists anew, also where one file holds several.
#include "list.h"

namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "../numerics/bits.h"
#include "../numerics/soft_sum_thumb.h"
#include "../numerics/soft_float.h"
#include "../numerics/arithmetic.h"
#include "../numerics/formats.h"
#include "../numerics/int4.h"
#include "../numerics/exp2.h"
#include "../numerics/reciprocal.h"
#include "../numerics/integer_softmax.h"

#include "../isa/chains.h"
#include "../isa/contract.h"
#include "../isa/scalar/operations.h"
#include "../isa/integer_tile.h"
#include "../isa/integer_contract.h"
#include "../isa/scalar/integers.h"
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
