// Attention and projections in integers for embedded processors, with Helium, DSP instructions or in plain C++, which is the
// reference for other instruction sets too. Hosts take its projections.
#define ATTEND_ISA embedded_integers
#include "begin.h"

#include "embedded_integers.h"

namespace attend::embedded_integers {
using IntegerIsa = EmbeddedInteger;
}  // namespace attend::embedded_integers

#include "../attention/integer_backend.h"
#include "../layer/integer_backend.h"

#include "end.h"
