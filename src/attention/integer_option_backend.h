// The entry point of integer attention with options of an instruction set. Before this its source includes its kernels,
// IntegerIsa.
#include "../isa/list.h"
#include "integer.h"

namespace attend::ATTEND_ISA {

void Backend::run_integer_options(const core::IntegerProblem& problem, const core::IntegerOptions& options) {
  IntegerPipeline<IntegerIsa, core::IntegerOptions>(problem, options).run();
}

}  // namespace attend::ATTEND_ISA
