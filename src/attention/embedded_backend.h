// The entry points of attention in the form for embedded processors. Before this a source includes
// embedded_operations.h. Adding up segments takes plain C++: it is rare, and small so.
#include "../isa/list.h"
#include "combine.h"
#include "embedded.h"

namespace attend::ATTEND_ISA {

static_assert(core::Has<core::Backends, Backend>::value,
              "attend: isa/list.h must have this Backend, and Backends at its end must name it");

ATTEND_HOT void Backend::run(const core::Problem& problem) { EmbeddedPipeline<Isa, NoFeatures>(problem).template run<true>(); }

ATTEND_HOT void Backend::sum_segment(const core::Problem& problem) {
  EmbeddedPipeline<Isa, NoFeatures>(problem).template run<false>();
}

void Backend::combine(const core::Problem& problem, const float* partials) { add_segments<Scalar>(problem, partials); }

}  // namespace attend::ATTEND_ISA
