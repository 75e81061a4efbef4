// Begins what is compiled for one instruction set, in the namespace ATTEND_ISA, which the source names before: numbers, and
// what operations are made of. Its own operations follow (isa/<set>/set.h, isa/target.h), body.h, its entry points, end.h.
//
// The headers that are listed here, in those of a set and in body.h have neither guards nor includes, and none opens a
// namespace: each stands behind what it uses. Every instruction set takes these lists anew, also where a file holds several.
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
