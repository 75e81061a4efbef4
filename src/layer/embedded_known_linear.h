// Projections whose layout is known, on embedded processors. Before this a source includes embedded_operations.h.
#include "../isa/list.h"
#include "linear_embedded.h"

namespace attend {
namespace core {

// Without the code of others.
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
