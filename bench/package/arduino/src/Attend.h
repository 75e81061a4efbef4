// Attend @VERSION@ for sketches: the C surface, whose names begin with attend_, from GNU C++11 on; with a core that compiles C++17 or
// newer also the C++ surface, namespace attend.
#pragma once

#include "attend_c.h"

#if __cplusplus >= 201703L
#include "attend/attend.h"
#endif
