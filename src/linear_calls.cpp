// Projections whose layout is known: on embedded processors without the code of others, elsewhere as any projection.
#include "../include/attend/core_linear.h"

#if ATTEND_EMBEDDED
#include "layer/linear_embedded.h"
#include "simd/embedded_isa.h"
#endif

namespace attend {
namespace core {

template <Format format, bool panels, bool one_token>
void run_known_linear(const Linear& linear) {
#if ATTEND_EMBEDDED
  EmbeddedLinear<EmbeddedIsa, NumberOf<format>, KnownLinear<panels, one_token>>(linear).run();
#else
  run_linear<format>(linear);
#endif
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
