// The entry point of integer attention of an instruction set. Before this its source includes its kernels, IntegerIsa.
#include "../isa/list.h"
#include "integer.h"

namespace attend::ATTEND_ISA {

ATTEND_HOT void Backend::run_integers(const core::IntegerProblem& problem) {
  IntegerPipeline<IntegerIsa, NoIntegerOptions>(problem, {}).run();
}

}  // namespace attend::ATTEND_ISA
