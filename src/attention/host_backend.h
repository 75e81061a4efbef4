// The entry points of attention of a host's instruction set. Before this its source includes its operations and names them
// `Isa`.
#include "../isa/list.h"
#include "combine.h"
#include "host.h"

namespace attend::ATTEND_ISA {

static_assert(core::Has<core::Backends, Backend>::value,
              "attend: isa/list.h must have this Backend, and Backends at its end must name it");

ATTEND_HOT void Backend::run(const core::Problem& problem) { run_problem<Isa>(problem); }

void Backend::run_options(const core::Problem& problem, const core::Options& options) {
  run_with_options<Isa>(problem, options);
}

}  // namespace attend::ATTEND_ISA
