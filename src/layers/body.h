// Layers for one instruction set, in order, behind backend/body.h: see backend/begin.h.
namespace attend::ATTEND_ISA {
namespace {
// clang-format off
#include "exponential.h"
#include "activations.h"
#include "normalisation.h"
#include "rotary.h"
#include "linear_embedded.h"
#include "integer_linear.h"

#if !ATTEND_EMBEDDED
#include "output_panel.h"
#include "output_rows.h"
#include "output_int4_rows.h"
#include "linear_blocks.h"
#include "linear_host.h"
#include "integer_linear_host.h"
#endif
// clang-format on
}  // namespace
}  // namespace attend::ATTEND_ISA
