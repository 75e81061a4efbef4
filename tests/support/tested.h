// For tests that look into src/: its headers in the namespace attend::tested, whose names are found in attend. Comes before all
// headers of src/; headers of an instruction set, of which backend/list.h chooses at run time, and of layers may follow.
#pragma once

#include "attend/attend.h"  // first: names of attend::tested are other ones

#define ATTEND_ISA tested
#include "../../src/backend/begin.h"

#include "../../src/backend/body.h"

namespace attend {
namespace tested {}
using namespace tested;
}  // namespace attend
