// Linear attention with the instruction set that the compiler's flags name: see backend/target.cpp.
#include "list.h"

#define ATTEND_ISA ATTEND_SET::linear_attention
#include "../backend/begin.h"

#include "../isa/target.h"

#include "../backend/body.h"
#include "body.h"
#include "rules.h"

#include "../backend/end.h"
