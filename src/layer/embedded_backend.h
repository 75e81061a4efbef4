// The entry points of projections in the form for embedded processors. Before this a source includes its operations, `Isa`.
#include "../isa/list.h"
#include "linear_embedded.h"

namespace attend::ATTEND_ISA {

void Backend::project_float32(const core::Linear& linear) { EmbeddedLinear<Isa, float>(linear).run(); }

void Backend::project_float16(const core::Linear& linear) { EmbeddedLinear<Isa, Half>(linear).run(); }

void Backend::project_bfloat16(const core::Linear& linear) { EmbeddedLinear<Isa, Bfloat>(linear).run(); }

void Backend::project_int8(const core::Linear& linear) { EmbeddedLinear<Isa, int8_t>(linear).run(); }

void Backend::project_int4(const core::Linear& linear) { EmbeddedLinear<Isa, core::Int4Group>(linear).run(); }

}  // namespace attend::ATTEND_ISA
