// Projections for embedded processors; embedded_options.cpp says why they are a source.
#include "list.h"

#if ATTEND_EMBEDDED
#define ATTEND_ISA embedded_linear
#include "begin.h"

#include "embedded_operations.h"

namespace attend::embedded_linear {
using Isa = EmbeddedIsa;
}  // namespace attend::embedded_linear

#include "../layer/embedded_backend.h"

#include "end.h"

// Projections whose layout is known, without the code of others.
#define ATTEND_ISA embedded_known_linear
#include "begin.h"

#include "../layer/linear_embedded.h"
#include "embedded_operations.h"

namespace attend::core {

template <Format format, bool panels, bool one_token>
void run_known_linear(const Linear& linear) {
  namespace isa = embedded_known_linear;
  isa::EmbeddedLinear<isa::EmbeddedIsa, isa::NumberOf<format>, isa::KnownLinear<panels, one_token>>(linear).run();
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
template void run_known_linear<Format::int4, false, false>(const Linear&);
template void run_known_linear<Format::int4, false, true>(const Linear&);
template void run_known_linear<Format::int4, true, false>(const Linear&);
template void run_known_linear<Format::int4, true, true>(const Linear&);

}  // namespace attend::core

#include "end.h"
#endif
