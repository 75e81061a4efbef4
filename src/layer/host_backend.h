// The entry points of projections of a host's instruction set. Before this its source includes its operations and names them
// `Isa`.
#include "../isa/list.h"
#include "linear_host.h"

namespace attend::ATTEND_ISA {

#define ATTEND_PROJECTION(format) \
  void Backend::project_##format(const core::Linear& linear) { HostLinear<Isa, core::Format::format>(linear).run(); }
ATTEND_EACH_FORMAT(ATTEND_PROJECTION)
#undef ATTEND_PROJECTION

}  // namespace attend::ATTEND_ISA
