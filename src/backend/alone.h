// Comes first in each backend_*.cpp, and stops a source that holds two of them. For that it must be read each time: there is no
// #pragma once.
#ifdef ATTEND_BACKEND_SOURCE
#error \
    "attend: compile each src/backend_*.cpp by itself (CMake: SKIP_UNITY_BUILD_INCLUSION); in a unity build one would get another's instructions"
#endif
#define ATTEND_BACKEND_SOURCE

#include "../backends.h"
