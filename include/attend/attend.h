// Attend: transformer attention without allocation, dependencies or surprises. This header brings in the whole typed surface.
#pragma once

#include "attention.h"
#include "backend.h"
#include "key_parts.h"
#include "kv_cache.h"
#include "linear.h"
#include "score_options.h"
#include "shape.h"
#include "states.h"
