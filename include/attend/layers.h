// The layers around attention: projections, normalisation, activations, rotary positions, whole multi-head layers, and the
// older additive attention. They need src/layers. A program of attention alone has neither; its header is attend.h.
#pragma once

// In the order in which to read them: clang-format must not sort them.
// clang-format off
#include "attend.h"
#include "layers/linear.h"
#include "layers/integer_linear.h"
#include "layers/row_functions.h"
#include "layers/gated_norm.h"
#include "layers/rotary.h"
#include "layers/multi_head.h"
#include "layers/layer_steps.h"
#include "layers/additive.h"
// clang-format on
