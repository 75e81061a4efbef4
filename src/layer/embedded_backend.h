// The entry points of projections in the form for embedded processors. Before this a source includes its operations, `Isa`.
#include "../isa/list.h"
#include "linear_embedded.h"

namespace attend::ATTEND_ISA {

#define ATTEND_PROJECTION(format)                                      \
  void Backend::project_##format(const core::Linear& linear) {         \
    EmbeddedLinear<Isa, NumberOf<core::Format::format>>(linear).run(); \
  }
ATTEND_EACH_FORMAT(ATTEND_PROJECTION)
#undef ATTEND_PROJECTION

}  // namespace attend::ATTEND_ISA
