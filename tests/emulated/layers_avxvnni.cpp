// src/layers/layers_avxvnni.cpp with emulated products, for processors that have AVX2.
#include "../../src/layers/list.h"

#if ATTEND_X86
#include "../../src/isa/x86/on.h"
#define ATTEND_ISA avxvnni::layers
#include "../../src/backend/begin.h"

#include "vnni.h"

#include "../../src/backend/body.h"
#include "../../src/layers/body.h"
#include "../../src/layers/integers.h"

#include "../../src/backend/end.h"
#endif
