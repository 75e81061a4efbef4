// Attend @VERSION@ for sketches: the C surface, whose names begin with attend_, from GNU C++11 on; with a core that compiles C++17 or
// newer also the C++ surface, namespace attend.
#pragma once

#include "attend_c.h"

#if __cplusplus >= 201703L
#include "attend/layers.h"
#else
// Who names the namespace without C++17 reads why it is not there.
#define attend \
  _Pragma("GCC error \"namespace attend needs C++17: set -std=gnu++17 in compiler.cpp.extra_flags, or use functions attend_...\"") attend
#endif
