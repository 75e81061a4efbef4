// The headers of src/ for sources that belong to no instruction set, in the namespace attend::portable: compiled with the flags
// of the build, once in a translation unit.
#pragma once

#define ATTEND_ISA portable
#include "../backend/begin.h"

#include "../backend/body.h"

#include "../backend/end.h"

namespace attend {
using namespace portable;
}
