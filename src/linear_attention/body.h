// Linear attention for one instruction set, in order, behind backend/body.h: see backend/begin.h. Then its entry points.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "gates.h"
#include "state_columns.h"
#include "value_head.h"
#include "convolution.h"
#include "decay_gates.h"
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
