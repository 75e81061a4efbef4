// Attention and projections in integers for embedded processors, with Helium, DSP instructions or in plain C++, which is the
// reference for other instruction sets too. Hosts take its projections. Calls with options and projections have
// copies of their own: what one of them adds does not change what the compiler makes inline in the others.
#define ATTEND_ISA embedded_integers
#include "begin.h"

#include "embedded_integers.h"

namespace attend::embedded_integers {
using IntegerIsa = EmbeddedInteger;
}  // namespace attend::embedded_integers

#include "../attention/integer_backend.h"

#include "end.h"

#define ATTEND_ISA embedded_integer_options
#include "begin.h"

#include "embedded_integers.h"

namespace attend::embedded_integer_options {
using IntegerIsa = EmbeddedInteger;
}  // namespace attend::embedded_integer_options

#include "../attention/integer_option_backend.h"

#include "end.h"

#define ATTEND_ISA embedded_integer_linear
#include "begin.h"

#include "embedded_integers.h"

namespace attend::embedded_integer_linear {
using IntegerIsa = EmbeddedInteger;
}  // namespace attend::embedded_integer_linear

#include "../layer/integer_backend.h"

#include "end.h"
