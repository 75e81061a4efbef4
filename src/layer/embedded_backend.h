// The entry points of projections in the form for embedded processors. Before this a source includes its operations, `Isa`.
#include "../isa/list.h"
#include "linear_embedded.h"

namespace attend::ATTEND_ISA {

void Backend::project_float32(const core::Linear& linear) { EmbeddedLinear<Isa, float>(linear).run(); }

void Backend::project_float16(const core::Linear& linear) { EmbeddedLinear<Isa, Half>(linear).run(); }

void Backend::project_bfloat16(const core::Linear& linear) { EmbeddedLinear<Isa, Bfloat>(linear).run(); }

void Backend::project_int8(const core::Linear& linear) { EmbeddedLinear<Isa, int8_t>(linear).run(); }

}  // namespace attend::ATTEND_ISA

#if ATTEND_EMBEDDED
namespace attend {
namespace core {

// Projections whose layout is known, without the code of others.
template <Format format, bool panels, bool one_token>
void run_known_linear(const Linear& linear) {
  using Number = ATTEND_ISA::NumberOf<format>;
  ATTEND_ISA::EmbeddedLinear<ATTEND_ISA::Isa, Number, ATTEND_ISA::KnownLinear<panels, one_token>>(linear).run();
}

template void run_known_linear<Format::float32, false, false>(const Linear&);
template void run_known_linear<Format::float32, false, true>(const Linear&);
template void run_known_linear<Format::float32, true, false>(const Linear&);
template void run_known_linear<Format::float32, true, true>(const Linear&);
template void run_known_linear<Format::float16, false, false>(const Linear&);
template void run_known_linear<Format::float16, false, true>(const Linear&);
template void run_known_linear<Format::float16, true, false>(const Linear&);
template void run_known_linear<Format::float16, true, true>(const Linear&);
template void run_known_linear<Format::bfloat16, false, false>(const Linear&);
template void run_known_linear<Format::bfloat16, false, true>(const Linear&);
template void run_known_linear<Format::bfloat16, true, false>(const Linear&);
template void run_known_linear<Format::bfloat16, true, true>(const Linear&);
template void run_known_linear<Format::int8, false, false>(const Linear&);
template void run_known_linear<Format::int8, false, true>(const Linear&);
template void run_known_linear<Format::int8, true, false>(const Linear&);
template void run_known_linear<Format::int8, true, true>(const Linear&);

}  // namespace core
}  // namespace attend
#endif
