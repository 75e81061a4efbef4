// For tests that look into src/: its headers in the namespace attend::tested, whose names are found in attend. Comes before all
// headers of src/.
#pragma once

#define ATTEND_ISA tested
#include "../../src/isa/begin.h"

namespace attend {
namespace tested {}
using namespace tested;
}  // namespace attend
