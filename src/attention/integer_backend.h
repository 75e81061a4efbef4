// The entry points of integer attention of an instruction set. Before this its source includes its kernels and names them
// `IntegerIsa`.
#include "../isa/list.h"
#include "integer.h"

namespace attend::ATTEND_ISA {

static_assert(core::Has<core::IntegerBackends, Backend>::value,
              "attend: isa/list.h must have this Backend, and IntegerBackends at its end must name it");

ATTEND_HOT void Backend::run_integers(const core::IntegerProblem& problem) {
  IntegerPipeline<IntegerIsa, NoIntegerOptions>(problem, {}).run();
}

void Backend::run_integer_options(const core::IntegerProblem& problem, const core::IntegerOptions& options) {
  IntegerPipeline<IntegerIsa, core::IntegerOptions>(problem, options).run();
}

}  // namespace attend::ATTEND_ISA
