// The headers of src/ for sources that belong to no instruction set, in the namespace attend::portable: compiled with the flags
// of the build, once in a translation unit.
#pragma once

#include "../isa/list.h"

#define ATTEND_ISA portable
#include "../isa/begin.h"

#include "../attention/combine.h"
#include "../attention/integer_keys.h"
#include "../attention/integer_rows.h"
#include "../attention/paging.h"
#include "../attention/parts.h"
#include "../attention/ranged_calls.h"
#include "../isa/scalar/integers.h"
#include "../kernel/epilogue.h"
#include "../layer/integer_sum.h"
#include "../layer/rotary_scaling.h"
#include "../numerics/formats.h"
#include "../numerics/int4.h"
#include "../numerics/turns.h"

#include "../isa/end.h"

namespace attend {
using namespace portable;
}
