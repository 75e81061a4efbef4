// Attention in integers for embedded processors, with Helium, DSP instructions or in plain C++, which is the reference for
// other instruction sets too. Calls with options have a copy of their own: neither changes what is inlined in the other.
#define ATTEND_ISA embedded_integers
#include "begin.h"

#include "../isa/embedded_integers.h"

#include "body.h"

namespace attend::embedded_integers {

ATTEND_HOT void Backend::run_integers(const core::Problem& problem) {
  IntegerPipeline<IntegerIsa, NoIntegerOptions>(problem, {}).run();
}

}  // namespace attend::embedded_integers

#include "end.h"

#define ATTEND_ISA embedded_integer_options
#include "begin.h"

#include "../isa/embedded_integers.h"

#include "body.h"

namespace attend {

void embedded_integers::Backend::run_integer_options(const core::Problem& problem, const core::Options& options) {
  namespace isa = embedded_integer_options;
  isa::IntegerPipeline<isa::IntegerIsa, core::Options>(problem, options).run();
}

}  // namespace attend

#include "end.h"
