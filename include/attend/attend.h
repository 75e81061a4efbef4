// Attend: transformer attention without allocation, dependencies or surprises. This header brings in the typed surface of
// attention. Beside it stand states.h and merged_states.h, attention in steps; integer.h, in integers; layers.h, the layers
// around it.
#pragma once

// In the order in which to read them: clang-format must not sort them.
// clang-format off
#include "shape.h"
#include "status.h"
#include "options.h"
#include "kv_cache.h"
#include "attention.h"
#include "batch.h"
#include "backend.h"
#include "core/version.h"
// clang-format on
