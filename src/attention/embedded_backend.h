// The entry points of attention in the form for embedded processors. Before this a source includes
// embedded_operations.h. Adding up segments takes plain C++: it is rare, and small so.
#include "../isa/list.h"
#include "combine.h"
#include "embedded.h"

namespace attend::ATTEND_ISA {

static_assert(core::Has<core::Backends, Backend>::value,
              "attend: isa/list.h must have this Backend, and Backends at its end must name it");

ATTEND_HOT void Backend::run(const core::Problem& problem) { EmbeddedPipeline<Isa, NoFeatures>(problem).run(); }

}  // namespace attend::ATTEND_ISA
