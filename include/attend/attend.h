// Attend: transformer attention without allocation, dependencies or surprises. This header brings in the whole typed surface.
#pragma once

#include "activations.h"
#include "additive.h"
#include "attention.h"
#include "backend.h"
#include "key_parts.h"
#include "kv_cache.h"
#include "layer_steps.h"
#include "linear.h"
#include "multi_head.h"
#include "normalisation.h"
#include "rotary.h"
#include "score_options.h"
#include "shape.h"
#include "states.h"
