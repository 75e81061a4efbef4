// The entry point of projections in integers of a host's instruction set. Before this its source includes its kernels and names
// them `IntegerIsa`.
#include "../isa/list.h"
#include "integer_linear_host.h"

namespace attend::ATTEND_ISA {

void Backend::run_integer_linear(const core::IntegerLinear& linear, int output_bytes, bool panels) {
  project_integers<IntegerIsa>(linear, output_bytes, panels);
}

}  // namespace attend::ATTEND_ISA
