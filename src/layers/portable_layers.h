// The headers of layers for sources that belong to no instruction set: see call/portable.h.
#pragma once

#include "list.h"

#include "../call/portable.h"

namespace attend::portable_layers {
using namespace portable;
}

#define ATTEND_ISA portable_layers
#include "body.h"

#include "../backend/end.h"

namespace attend {
using namespace portable_layers;
}
