// Attention and projections in integers for embedded processors, with Helium, DSP instructions or in plain C++, which is the
// reference for other instruction sets too. Calls with options and projections have copies of their own: what one of them adds
// does not change what the compiler makes inline in the others.
#define ATTEND_ISA embedded_integers
#include "begin.h"

#include "../attention/integer.h"
#include "embedded_integers.h"

namespace attend::embedded_integers {

ATTEND_HOT void Backend::run_integers(const core::IntegerProblem& problem) {
  IntegerPipeline<EmbeddedInteger, NoIntegerOptions>(problem, {}).run();
}

}  // namespace attend::embedded_integers

#if !ATTEND_EMBEDDED
namespace attend::embedded_integers {
using IntegerIsa = EmbeddedInteger;
}  // namespace attend::embedded_integers

#include "../layer/integer_backend.h"
#endif

#include "end.h"

#define ATTEND_ISA embedded_integer_options
#include "begin.h"

#include "../attention/integer.h"
#include "embedded_integers.h"

namespace attend::embedded_integer_options {

void Backend::run_integer_options(const core::IntegerProblem& problem, const core::IntegerOptions& options) {
  IntegerPipeline<EmbeddedInteger, core::IntegerOptions>(problem, options).run();
}

}  // namespace attend::embedded_integer_options

#include "end.h"

#if ATTEND_EMBEDDED
#define ATTEND_ISA embedded_integer_linear
#include "begin.h"

#include "../layer/integer_linear.h"
#include "../layer/integer_sum.h"
#include "embedded_integers.h"

namespace attend::core {

template <class Output>
void run_integer_linear(const IntegerLinear& linear) {
  namespace isa = embedded_integer_linear;
  isa::IntegerProjection<isa::EmbeddedInteger, Output>(linear).run();
}

template void run_integer_linear<int8_t>(const IntegerLinear&);
template void run_integer_linear<int16_t>(const IntegerLinear&);
template void run_integer_linear<int32_t>(const IntegerLinear&);

template <class A, class B, class Output>
void run_integer_sum(const IntegerSum& sum) {
  embedded_integer_linear::add_integers<A, B, Output>(sum);
}

#define ATTEND_INTEGER_SUM(A, B, Output) template void run_integer_sum<A, B, Output>(const IntegerSum&);
ATTEND_EACH_INTEGER_SUM(ATTEND_INTEGER_SUM)
#undef ATTEND_INTEGER_SUM

}  // namespace attend::core

#include "end.h"
#endif
