// Attend: transformer attention without allocation, dependencies or surprises. This header brings in the whole typed surface.
#pragma once

// In the order in which to read them: clang-format must not sort them.
// clang-format off
#include "shape.h"
#include "status.h"
#include "options.h"
#include "kv_cache.h"
#include "attention.h"
#include "batch.h"
#include "states.h"
#include "merged_states.h"
#include "integer.h"
#include "integer_linear.h"
#include "linear.h"
#include "row_functions.h"
#include "rotary.h"
#include "multi_head.h"
#include "additive.h"
#include "backend.h"
#include "core/version.h"
#include "detail/layer_steps.h"
// clang-format on
