// Linear attention for one instruction set, in order, behind backend/body.h: see backend/begin.h. Then its entry points.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "gates.h"
#if ATTEND_EMBEDDED
#include "panels.h"
#include "state_panel.h"
#else
#include "state_columns.h"
#include "value_head.h"
#endif
#include "convolution.h"
#include "decay_gates.h"
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
