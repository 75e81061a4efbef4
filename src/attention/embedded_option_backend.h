// The entry points of attention with options in the form for embedded processors. Before this a source includes
// embedded_operations.h.
#include "../isa/list.h"
#include "combine.h"
#include "embedded.h"

namespace attend::ATTEND_ISA {

void Backend::run_options(const core::Problem& problem, const core::Options& options) {
  EmbeddedPipeline<Isa, AllFeatures>(problem, options).template run<true>();
}

void Backend::combine_options(const core::Problem& problem, const core::Options& options, const float* partials) {
  add_segments<Scalar>(problem, options, partials);
}

}  // namespace attend::ATTEND_ISA
