// The entry points of attention with options in the form for embedded processors. Before this a source includes
// embedded_operations.h.
#include "../isa/list.h"
#include "combine.h"
#include "embedded.h"

namespace attend::ATTEND_ISA {

void Backend::run_options(const core::Problem& problem, const core::Options& options) {
  EmbeddedPipeline<Isa, AllFeatures>(problem, options).run();
}

}  // namespace attend::ATTEND_ISA
