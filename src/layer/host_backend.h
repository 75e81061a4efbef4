// The entry points of projections of a host's instruction set. Before this its source includes its operations and names them
// `Isa`.
#include "../isa/list.h"
#include "linear_host.h"

namespace attend::ATTEND_ISA {

void Backend::project_float32(const core::Linear& linear) { HostLinear<Isa, core::Format::float32>(linear).run(); }

void Backend::project_float16(const core::Linear& linear) { HostLinear<Isa, core::Format::float16>(linear).run(); }

void Backend::project_bfloat16(const core::Linear& linear) { HostLinear<Isa, core::Format::bfloat16>(linear).run(); }

void Backend::project_int8(const core::Linear& linear) { HostLinear<Isa, core::Format::int8>(linear).run(); }

void Backend::project_int4(const core::Linear& linear) { HostLinear<Isa, core::Format::int4>(linear).run(); }

}  // namespace attend::ATTEND_ISA
